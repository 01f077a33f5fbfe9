import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { open } from '../../src/index.js';
import { document } from '../support/document.js';
import { Program } from '../support/program/program.js';

/** What was said of one file, and the next file of the same columns, which somebody else has made. */
const IDS = Array.from({ length: 40 }, (_, at) => String(119283746501928300n + BigInt(at)));

let world: Program;
let before: number;
beforeAll(async () => {
  const members = IDS.map((member) => ({ member, tokens: 1000 }));
  world = await Program.start({ members, realms: { other: { members } } });
});
beforeEach(async () => {
  before = await world.appliedCount();
});
afterAll(() => world.end());

const IN = ['--realm', 'town'];
const csv = (header: string, rows: readonly string[]) => `${header}\n${rows.join('\n')}\n`;
const pay = async (name: string, text: string, ...more: string[]) => {
  await world.file(name, text);
  return world.run('run', name, '--yes', ...IN, ...more);
};
const applied = async () => (await world.applied()).slice(before);
const whole = (ran: { readonly stdout: string; readonly stderr: string }) => ran.stdout + ran.stderr;

describe('a mapping that was kept', { timeout: 120_000 }, () => {
  const REFERENCED = 'member,tokens,reference,week';
  const paidOnce = IDS.slice(0, 4).map((id, at) => `${id},5,r-${at},46`);

  it('does not take the references of the next file: nobody is paid again under --yes', async () => {
    expect((await pay('first.csv', csv(REFERENCED, paidOnce))).status).toBe(0);
    const odd = await pay('odd.csv', csv(REFERENCED, [`${IDS[39]},7,x,46`]), '--map', 'reference=');
    expect(odd.status, odd.stderr).toBe(0);
    before = await world.appliedCount();
    const next = csv(REFERENCED, [...paidOnce, ...IDS.slice(4, 36).map((id, at) => `${id},6,s-${at},47`)]);
    const refused = await pay('next.csv', next);
    expect([refused.status, await applied()]).toEqual([3, []]);
    expect(whole(refused)).toMatch(
      /ada said --map reference= of this header on .* It is not taken, .* say --map reference=COLUMN again, or take it back with --forget-map\. .*ALM_PLAN_KEPT_COLUMNS/,
    );
    const shown = await world.run('plan', 'next.csv', '--json', ...IN);
    expect(shown.status).toBe(0);
    expect(document(shown)).toMatchObject({
      duplicates: 4,
      columns: { kept: { who: 'ada', pairs: [{ map: 'reference=', effect: 'refused' }] } },
      warnings: [{ code: 'ALM_PLAN_KEPT_COLUMNS' }],
    });
    const paid = await pay('next.csv', next, '--map', 'reference=reference');
    expect([paid.status, (await applied()).length]).toEqual([0, 32]);
  });

  it('is forgotten where that is asked for, and the next run needs to say nothing', async () => {
    const header = 'member,tokens,reference,day';
    expect((await pay('a.csv', csv(header, [`${IDS[1]},1,,x`]), '--map', 'reference=')).status).toBe(0);
    expect((await pay('b.csv', csv(header, [`${IDS[1]},2,d-1,x`]))).status).toBe(3);
    expect((await pay('b.csv', csv(header, [`${IDS[1]},2,d-1,x`]), '--forget-map')).status).toBe(0);
    expect((await pay('c.csv', csv(header, [`${IDS[1]},2,d-1,y`]))).status).toBe(0);
    expect((await applied()).length).toBe(2);
  });

  it('does not take the direction: the library credits no debits', async () => {
    const header = 'member,tokens,op,team';
    const first = await pay('ops.csv', csv(header, [`${IDS[5]},3,gift,red`]), '--map', 'op=');
    expect(first.status, first.stderr).toBe(0);
    before = await world.appliedCount();
    const file = await world.file(
      'debits.csv',
      csv(
        header,
        IDS.slice(6, 8).map((id) => `${id},15,debit,red`),
      ),
    );
    const almoner = await open({ env: world.env, cwd: world.folder, realm: 'town' });
    try {
      const expectTokens = { taken: 30 };
      await expect(almoner.pay({ file }, { expectTokens })).rejects.toMatchObject({
        code: 'ALM_PLAN_KEPT_COLUMNS',
        message: expect.stringContaining('say map'),
      });
      expect((await almoner.plan({ file })).warnings).toMatchObject([{ code: 'ALM_PLAN_KEPT_COLUMNS' }]);
      expect(await applied()).toEqual([]);
      await expect(almoner.pay({ file, map: { op: '' } }, { expectTokens })).rejects.toMatchObject({
        code: 'ALM_PLAN_NOT_EXPECTED',
      });
      const paid = await almoner.pay({ file, forgetMap: true }, { expectTokens });
      expect(paid.counts).toEqual({ paid: 2 });
    } finally {
      await almoner.close();
    }
    expect((await applied()).map(({ op, tokens }) => `${op} ${tokens}`)).toEqual(['debit 15', 'debit 15']);
  });

  it('does not take the realm that a file names, and counts for one realm alone', async () => {
    const header = 'member,tokens,realm,Bill';
    const map = ['--map', 'realm=', '--map', 'reference=Bill'];
    expect((await pay('realm.csv', csv(header, [`${IDS[9]},4,x,b-1`]), ...map)).status).toBe(0);
    before = await world.appliedCount();
    const refused = await pay('theirs.csv', csv(header, [`${IDS[9]},9,other,b-2`]));
    expect([refused.status, await applied()]).toEqual([3, []]);
    expect(whole(refused)).toContain('ALM_ROW_REALM');
    const there = await world.run('plan', 'theirs.csv', '--json', '--realm', 'other');
    expect(document(there)).toMatchObject({ faultCount: 0, warnings: [], columns: { kept: null } });
  });

  it('is taken where it only names a needed column that the file has none for', async () => {
    const header = 'Wer,Gabe';
    const map = ['--map', 'member=Wer', '--map', 'tokens=Gabe'];
    expect((await pay('w1.csv', csv(header, [`${IDS[10]},4`]), ...map)).status).toBe(0);
    expect((await pay('w2.csv', csv(header, [`${IDS[11]},5`]))).status).toBe(0);
    expect((await applied()).map(({ tokens }) => tokens)).toEqual([4, 5]);
  });
});

describe('--expect-tokens', { timeout: 120_000 }, () => {
  it.each([
    ['11', 3],
    ['given=11', 3],
    ['given=8', 3],
    ['given=8,taken=3', 0],
    ['taken=3,given=8,moved=0', 0],
    ['given=8,given=8', 2],
    ['8 given', 2],
  ])('%s of a file that gives 8 and takes 3 ends with %i', async (expected, status) => {
    await world.file('both.csv', `member,tokens\n${IDS[0]},8\n${IDS[1]},-3\n`);
    const planned = await world.run('plan', 'both.csv', '--expect-tokens', expected, ...IN);
    expect(planned.status, whole(planned)).toBe(status);
    if (expected === '11') expect(whole(planned)).toContain('--expect-tokens given=8,taken=3');
  });

  it('is one number where a file has one direction', async () => {
    await world.file('takes.csv', `member,tokens\n${IDS[0]},-8\n${IDS[1]},-3\n`);
    expect((await world.run('plan', 'takes.csv', '--expect-tokens', '11', ...IN)).status).toBe(0);
    expect((await world.run('plan', 'takes.csv', '--expect-tokens', 'given=11', ...IN)).status).toBe(3);
  });
});
