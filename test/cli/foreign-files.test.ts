import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../support/document.js';
import { Program } from '../support/program/program.js';

/**
 * Files as spreadsheets, chat bots and wallet tools write them. Each has a clean plan as it is, or after one message
 * that names the step; where only another export helps, the message says which.
 */
const A = '119283746501928374';
const B = '119283746501928375';
const WALLETS = ['0x52908400098527886E0F7030069857D2E4169EE7', '0x8617E340B3D01FA5F11F306F4090FD50E238070D'];

type Foreign = {
  readonly from: string;
  readonly file: string | Buffer;
  /** The options that the message names; with them the file is clean. */
  readonly step?: readonly string[];
  /** The message where the file has to be exported again. */
  readonly anew?: RegExp;
};

const BOM = '\ufeff';
const FILES: readonly Foreign[] = [
  { from: 'a web spreadsheet', file: `Discord ID,Points,Note\r\n${A},50,for help\r\n${B},20,"a, b"\r\n` },
  {
    from: 'a desktop spreadsheet of a German office, decimals in the amounts',
    file: `${BOM}User ID;Amount\r\n${A};5,00\r\n${B};12,00\r\n`,
  },
  {
    from: 'a desktop spreadsheet with German names',
    file: `${BOM}Mitglied;Punkte\r\n${A};5\r\n${B};12\r\n`,
    step: ['--map', 'member=Mitglied', '--map', 'tokens=Punkte'],
  },
  {
    from: 'a spreadsheet that says its separator',
    file: `sep=;\r\nMember ID;Points\r\n${A};5\r\n`,
  },
  {
    from: 'an office suite, ids kept as text by an apostrophe',
    file: `"User ID","Points"\n"'${A}","5"\n"'${B}","7"\n`,
  },
  {
    from: 'a spreadsheet with a title above the table',
    file: `Rewards of week 46,,\r\n,,\r\nDiscord ID,Points,Team\r\n${A},5,red\r\n`,
    step: ['--header-line', '3'],
  },
  { from: 'ids as formulas, so that they stay text', file: `member,tokens\n"=""${A}""",5\n` },
  {
    from: 'a spreadsheet that has lost the digits of the ids',
    file: 'User ID,Points\n1.19E+17,5\n',
    anew: /Format the column as text before the ids are put in, and export again/,
  },
  {
    from: 'a spreadsheet with thousands separators',
    file: `User ID,Points\n${A},"1,000"\n`,
    anew: /format the column as a number without separators and decimals, and export again/,
  },
  {
    from: 'a spreadsheet as Unicode text',
    file: Buffer.from(`${BOM}User ID\tPoints\n${A}\t5\n`, 'utf16le'),
    anew: /CSV UTF-8/,
  },
  {
    from: 'a spreadsheet in Windows-1252',
    file: Buffer.from(`User ID,Points,Wofür\n${A},5,Grüße\n`, 'latin1'),
    anew: /CSV UTF-8/,
  },
  {
    from: 'a levelling bot of a chat',
    file: `Rank,Username,User ID,Level,XP\n1,ann,${A},12,4200\n2,ben,${B},11,3900\n`,
    step: ['--map', 'tokens=XP'],
  },
  { from: 'a points bot of a chat', file: `user_id\tamount\n${A}\t+50\n${B}\t-20\n` },
  {
    from: 'a score board of a chat, members as mentions',
    file: `User,Score\n<@${A}>,5\n<@!${B}>,7\n`,
    step: ['--map', 'member=User', '--map', 'tokens=Score'],
  },
  {
    from: 'a quest platform',
    file: `Discord User ID,Discord handle,XP earned\n${A},ann,5\n${B},ben,7\n`,
    step: ['--map', 'tokens=XP earned'],
  },
  {
    from: 'a note taking tool',
    file: `${BOM}Name,Discord User ID,Points awarded\nAnn,${A},5\n`,
  },
  {
    from: 'a database tool with a reward column',
    file: `Name,Discord ID,Reward,Paid?\nAnn,${A},5,\nBen,${B},7,\n`,
    step: ['--map', 'tokens=Reward'],
  },
  {
    from: 'a tip bot: who to whom',
    file: `From,To,Amount\n${A},${B},5\n`,
    step: ['--map', 'member=From'],
  },
  {
    from: 'a membership tool by wallet',
    file: `address,points\n${WALLETS[0]},5\n${WALLETS[1]?.toLowerCase()},7\n`,
    step: ['--members', 'members.csv'],
  },
  {
    from: 'a list of holders from a block explorer',
    file: `"HolderAddress","Quantity"\n"${WALLETS[0]}","5"\n"${WALLETS[1]}","7"\n`,
    step: ['--members', 'members.csv', '--map', 'tokens=Quantity'],
  },
  {
    from: 'a vote by handle',
    file: `Username,Points\n@Ann,5\nben,7\n`,
    step: ['--members', 'members.csv'],
  },
];

let world: Program;
beforeAll(async () => {
  world = await Program.start();
  await world.file('members.csv', `member,wallet,handle\n${A},${WALLETS[0]},ann\n${B},${WALLETS[1]},ben\n`);
});
afterAll(() => world.end());

describe('a file of', { timeout: 120_000 }, () => {
  it.each(FILES.map((one, at) => [one.from, at, one] as const))(
    '%s',
    async (_, at, { file, step = [], anew }) => {
      const name = `foreign-${at}.csv`;
      await writeFile(join(world.folder, name), file);
      if (step.length > 0 || anew !== undefined) {
        const refused = await world.run('plan', name);
        const said = refused.stdout + refused.stderr;
        expect(refused.status, said).toBe(3);
        expect(said).toMatch(anew ?? /--/);
        for (const word of step.filter((one) => one !== 'members.csv')) expect(said).toContain(word);
      }
      if (anew !== undefined) return;
      const planned = await world.run('plan', name, ...step);
      expect(planned.status, planned.stdout + planned.stderr).toBe(0);
    },
  );

  it('another tool is rehearsed with the step that its plan names', async () => {
    await world.file('holders.csv', `address,XP\n${WALLETS[0]},5\n${WALLETS[1]},7\n`);
    const step = ['--members', 'members.csv', '--map', 'tokens=XP'];
    const rehearsed = await world.run('rehearse', 'holders.csv', ...step, '--json');
    expect([rehearsed.status, field(rehearsed, 'counts')]).toEqual([0, { paid: 2 }]);
  });
});
