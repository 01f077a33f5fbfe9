import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MemberTable, readMemberTable } from '../../src/csv/member-table.js';
import { openSource } from '../../src/csv/open.js';

const A = '119283746501928374';
const B = '119283746501928375';
const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7';

async function read(text: string) {
  const source = await openSource('-', { stdin: Readable.from([text]) });
  onTestFinished(() => source.close());
  return readMemberTable({ ...source, name: 'members.csv' });
}

async function table(text: string): Promise<MemberTable> {
  const made = await read(text);
  if (made instanceof MemberTable) return made;
  throw new Error(made.faults[0]?.message);
}

async function faults(text: string): Promise<string> {
  const made = await read(text);
  return made instanceof MemberTable ? 'none' : made.faults.map(({ message }) => message).join('\n');
}

describe('a table of members', () => {
  it('turns wallets and handles into members, whatever their case, @ and blanks', async () => {
    const text = `member,wallet,handle\n${A},${WALLET},@Ann\n${B},,ben\n`;
    const made = await table(text);
    expect(made.find(WALLET.toLowerCase())).toBe(A);
    expect(made.find(' ann ')).toBe(A);
    expect(made.find('@BEN')).toBe(B);
    expect(made.sha256).toBe(createHash('sha256').update(text).digest('hex'));
    expect([...made.wallets.keys()]).toEqual([WALLET.toLowerCase()]);
  });

  it('an id of the table stands for itself; another one is unknown', async () => {
    const made = await table(`Discord ID;Address\n${A};${WALLET}\n`);
    expect(made.find(A)).toBe(A);
    expect(made.find(B)).toMatchObject({ code: 'ALM_ROW_MEMBER_UNKNOWN' });
    expect(made.find('')).toMatchObject({ code: 'ALM_ROW_ID_INVALID' });
  });

  it('what stands for two members stands for neither, and both lines are named', async () => {
    const made = await table(`member,handle\n${A},ann\n${B},Ann\n${A},ann\n`);
    expect(made.find('ann')).toEqual({
      code: 'ALM_ROW_MEMBER_AMBIGUOUS',
      message: `"ann" stands for ${A} (line 2) and for ${B} (line 3) in members.csv; keep only one of them.`,
    });
  });

  it('a handle that is another member’s id stands for neither', async () => {
    const made = await table(`member,handle\n${A},${B}\n${B},ben\n`);
    expect(made.find(B)).toMatchObject({ code: 'ALM_ROW_MEMBER_AMBIGUOUS' });
  });

  it('a column of ours wins over one like it; of two alike neither is taken', async () => {
    expect((await table(`Discord ID,member,wallet\n${A},${B},0xab\n`)).find('0xAB')).toBe(B);
    expect(await faults(`User ID,Discord ID,wallet\n42,${B},0xab\n`)).toMatch(
      /"User ID" and "Discord ID" both/,
    );
  });

  it('a handle with a character that cannot be seen is refused', async () => {
    expect(await faults(`member,handle\n${A},bob\u200b\n`)).toMatch(/line 2: .*cannot be seen/);
  });

  it('a wallet that a spreadsheet wrote as a formula is asked for as it is', async () => {
    const made = await table(`member,wallet\n${A},${WALLET}\n`);
    expect(made.find(`="${WALLET}"`)).toBe(A);
    expect([...made.wallets.keys()]).toEqual([WALLET]);
  });

  it('of two columns the one beside the ids holds the keys', async () => {
    expect((await table(`User ID,Nick\n${A},ann\n`)).find('ann')).toBe(A);
  });

  it.each([
    ['who,wallet\n1,2\n', /members.csv, line 1: there is no column member, .*"who", "wallet"/],
    [`member,a,b\n${A},1,2\n`, /no column wallet or handle/],
    [`member,handle\n1.19E+18,ann\n`, /members.csv, line 2: .*scientific notation/],
    [`member,handle\n${A}\n`, /line 2: the row does not have the cells/],
    ['member,handle\n', /no rows/],
    ['', /empty/],
  ])('%j is refused with its place', async (text, message) => {
    expect(await faults(text)).toMatch(message);
  });
});
