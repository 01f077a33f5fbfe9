import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Ran } from '../support/program/almoner.js';
import { auditReport } from '../support/program/auditor.js';
import { startRealm, type TestRealm } from '../support/program/realm-service.js';
import { type Stranger, stranger } from '../support/program/stranger.js';
import { codeUnder } from '../support/readme.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { endServerOf } from '../support/store-program.js';

/**
 * A new user's first minutes, with the commands as README.md has them: the command is got in some way, then an own file
 * on somebody else's realm, one mistake of each kind, and the report at the end.
 */
const REALM = 'guild';
export const [firstFile = ''] = codeUnder('README.md', 'Pay your first file', 'sh');
const [sampleCsv = ''] = codeUnder('README.md', 'Pay your first file', 'csv');

const STAYS = '440123456789012345';
const JOINS_LATER = '550123456789012345';
const MEMBERS = [
  { member: '119837460192837465', tokens: 0 },
  { member: '220938475610293847', tokens: 100 },
  { member: STAYS, tokens: 7 },
];
const file = (tokens: string) =>
  `${sampleCsv}${STAYS},${tokens},week-46/${STAYS},Weekly activity\n${JOINS_LATER},30,week-46/${JOINS_LATER},Weekly activity\n`;
const BALANCES = {
  '119837460192837465': 50,
  '220938475610293847': 90,
  [STAYS]: 1_507,
  [JOINS_LATER]: 30,
};
const TOTAL = '1590';

let folder: string;
let desk: string;
let user: Stranger;
let redis: TestRedis;
let realm: TestRealm;

/** The README's lines with the reader's own realm in the places that say "your own". */
function asOwn(line: string): string {
  return line
    .replace('https://realm.example', realm.url)
    .replace('my-realm', REALM)
    .replace('24/min', '600/min');
}

const lines = (block: string) => block.split('\n').filter((line) => line.trim() !== '');
const settings = () =>
  lines(firstFile)
    .filter((line) => line.startsWith('export '))
    .map(asOwn);

/** The README's line that begins so; a README that no longer has it fails here. */
export function said(block: string, begins: string): string {
  const line = lines(block).find((one) => one.startsWith(begins));
  if (line === undefined) throw new Error(`README.md no longer says “${begins}”`);
  return asOwn(line);
}

const type = (line: string) => user.shell([...settings(), line], desk);
export const all = (ran: Ran) => `${ran.stdout}\n${ran.stderr}`;

async function balances(): Promise<Record<string, unknown>> {
  const found: [string, unknown][] = [];
  for (const member of Object.keys(BALANCES)) {
    const record = (await realm.call(`/members/${member}`)).json;
    found.push([
      member,
      typeof record === 'object' && record !== null && 'tokenBalance' in record ? record.tokenBalance : null,
    ]);
  }
  return Object.fromEntries(found);
}

const applied = () => realm.admin.appliedChanges(REALM);

/** `getCommand` leaves `almoner` on the user's path; `folder` is for whatever it needs. */
export function firstPayment(getCommand: (user: Stranger, folder: string) => Promise<void>): void {
  describe.sequential('a new user', () => {
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'almoner-newcomer-'));
      user = stranger(join(folder, 'home'));
      desk = join(user.home, 'payouts');
      mkdirSync(desk, { recursive: true });
      // The realm is somebody else's: its own port, its own store, its own key.
      redis = await startRedis();
      realm = await startRealm(redis, { realmId: REALM });
      await realm.admin.putMembers(REALM, MEMBERS);
    });
    afterAll(async () => {
      await realm.close();
      await redis.stop();
      await endServerOf(user.dataFolder);
      rmSync(folder, { recursive: true, force: true });
    });

    test('gets the command', async () => {
      await getCommand(user, folder);
      const version = await user.shell('almoner --version', desk);
      expect(version.stdout.trim()).toMatch(/^\d+\.\d+\.\d+/);
    }, 600_000);

    test('is told by doctor that the key is not there, then that it is wrong, then that all is well', async () => {
      const missing = await type(said(firstFile, 'almoner doctor'));
      expect(missing.status, all(missing)).not.toBe(0);
      expect(all(missing)).toContain('.config/almoner/key');
      mkdirSync(join(user.home, '.config', 'almoner'), { recursive: true });
      const keyFile = join(user.home, '.config', 'almoner', 'key');
      writeFileSync(keyFile, 'a-key-of-another-realm-0123456789\n', { mode: 0o600 });
      const wrong = await type(said(firstFile, 'almoner doctor'));
      expect(wrong.status, all(wrong)).not.toBe(0);
      expect(all(wrong)).toContain('401');
      writeFileSync(keyFile, `${realm.key}\n`, { mode: 0o600 });
      const right = await type(said(firstFile, 'almoner doctor'));
      expect(right.status, all(right)).toBe(0);
    });

    test('sees the fault of a row by its line and column, mends it, and rehearses', async () => {
      writeFileSync(join(desk, 'airdrop.csv'), file('"1,500"'));
      const faulty = await type(said(firstFile, 'almoner plan airdrop.csv'));
      expect(faulty.status, all(faulty)).toBe(3);
      expect(all(faulty)).toMatch(/line 4\b.*tokens/);
      writeFileSync(join(desk, 'airdrop.csv'), file('1500'));
      const clean = await type(said(firstFile, 'almoner plan airdrop.csv'));
      expect(clean.status, all(clean)).toBe(0);
      const rehearsed = await type(said(firstFile, 'almoner rehearse airdrop.csv'));
      expect(rehearsed.status, all(rehearsed)).toBe(0);
      expect(await applied(), 'nothing has reached the realm yet').toEqual([]);
    });

    test('types the total, pays, and one order is refused: its member is not on the realm', async () => {
      const ran = await user.terminal([...settings(), said(firstFile, 'almoner run airdrop.csv')], desk, {
        to: /Type the total \(\d+\)[^:]*: /,
        with: TOTAL,
      });
      expect(ran.status, all(ran)).toBe(4);
      expect(ran.stdout).toMatch(/paid\s+3\b/);
      expect(ran.stdout).toMatch(/refused\s+1\b/);
      const dead = await type('almoner dead list --batch last');
      expect(dead.stdout).toContain(JOINS_LATER);
    });

    test('mends it as the README says once the member has joined', async () => {
      await realm.admin.putMembers(REALM, [{ member: JOINS_LATER, tokens: 0 }], 'keep');
      const command =
        /`(almoner dead retry --batch BATCH[^`]*)`/.exec(readFileSync('README.md', 'utf8'))?.[1] ?? '';
      const ran = await type(command.replace('BATCH', 'last'));
      expect(ran.status, all(ran)).toBe(0);
      expect(ran.stdout).toMatch(/paid\s+4\b/);
    });

    test('reads a report that agrees with the realm’s own books, and pays nobody twice', async () => {
      const written = await type('almoner report last --json');
      const { batch, report }: { batch: string; report: string } = JSON.parse(written.stdout);
      expect(report).toBe(join(desk, 'reports', batch));
      const audited = await auditReport(await applied(), join(desk, 'reports'), batch);
      expect(audited).toEqual({ paid: 4, applied: 4, states: { paid: 4 } });
      expect(JSON.parse(readFileSync(join(report, 'summary.json'), 'utf8'))).toMatchObject({
        checks: { countsTie: true, sumsTie: true },
        tokens: { paid: TOTAL },
      });
      expect(await balances()).toEqual(BALANCES);
      const again = await type('almoner run airdrop.csv --yes');
      expect(again.status, all(again)).toBe(0);
      expect(await balances()).toEqual(BALANCES);
      expect(await applied()).toHaveLength(4);
    });
  });
}
