import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { document } from '../support/document.js';
import { Program, REALM_ID } from '../support/program/program.js';

/** `almoner stats` and `almoner statement`, compared with the realm's own log. */
let world: Program;
const today = () => new Date().toISOString().slice(0, 10);
const month = () => today().slice(0, 7);

beforeAll(async () => {
  const members = Array.from({ length: 20 }, (_, at) => ({ member: String(101 + at), tokens: 100 }));
  world = await Program.start({ members, rate: '200/s' });
  const gifts = members.map(({ member }, at) => `${member},${at + 1},=gift`);
  await world.file('gifts.csv', `member,tokens,reason\n${gifts.join('\n')}\n999,5,late\n`);
  await world.file(
    'moves.csv',
    'op,member,recipient,tokens,reason\ntransfer,101,102,4,swap\ndebit,103,,6,\n',
  );
  expect((await world.run('run', 'gifts.csv', '--yes', '--json')).status).toBe(4);
  expect((await world.run('run', 'moves.csv', '--yes', '--json')).status).toBe(0);
});
afterAll(() => world.end());

async function recount() {
  const applied = await world.admin.appliedChanges(REALM_ID);
  const sum = (op: string) =>
    String(applied.filter((one) => one.op === op).reduce((all, { tokens }) => all + tokens, 0));
  return { orders: applied.length, credit: sum('credit'), debit: sum('debit'), transfer: sum('transfer') };
}

describe('stats', () => {
  test('adds up to what the realm has logged, by outcome, rule and reason', async () => {
    const { orders, ...tokens } = await recount();
    expect(orders).toBe(22);
    const told = document(await world.run('stats', '--json'));
    expect(told).toMatchObject({
      by: 'day',
      to: today(),
      realms: [
        {
          realm: REALM_ID,
          rehearsal: false,
          whole: {
            outcomes: [
              { currency: null, op: 'credit', outcome: 'paid', orders: 20, tokens: tokens.credit },
              { op: 'credit', outcome: 'refused', orders: 1, tokens: '5' },
              { op: 'debit', outcome: 'paid', orders: 1, tokens: tokens.debit },
              { op: 'transfer', outcome: 'paid', orders: 1, tokens: tokens.transfer },
            ],
            success: 22 / 23,
            requests: 23,
            rules: [{ label: '(file)', paid: 22, unpaid: 1, tokens }],
            reasons: [
              { label: '=gift', paid: 20 },
              { label: 'swap', paid: 1 },
              { label: '', paid: 1 },
              { label: 'late', paid: 0, unpaid: 1 },
            ],
          },
          before: { outcomes: [], success: null, requests: 0, p50Ms: null },
        },
      ],
    });
    expect(told).toHaveProperty('realms.0.periods.length', 14);
    expect(told).toHaveProperty('realms.0.whole.share', expect.any(Number));
  });

  test('prints a line a period with a bar, the days before, and what paid most', async () => {
    const { stdout } = await world.run('stats', '--by', 'month', '--since', '2026-01-01', '--until', today());
    expect(stdout).toContain(`Realm ${REALM_ID}, 2026-01-01 to ${today()}, days of UTC`);
    expect(stdout).toMatch(new RegExp(`${month()} +22  █{24} +1 +0 +96 % +23 `));
    expect(stdout).toContain('gave 210 · took 6 · moved 4 · net +204');
    expect(stdout).toMatch(/Top reasons\n +=gift +20 paid/);
  });

  test('prints each table as CSV in which no cell is a formula', async () => {
    const outcomes = (await world.run('stats', '--csv')).stdout.split('\n');
    expect(outcomes[0]).toBe('realm,period,from,to,currency,op,outcome,orders,tokens');
    expect(outcomes).toContain(`${REALM_ID},${today()},${today()},${today()},,credit,paid,20,210`);
    const reasons = (await world.run('stats', '--csv', '--of', 'reasons')).stdout;
    expect(reasons).toContain(`${today()},'=gift,,20,0,210,0,0\n`);
    const work = (await world.run('stats', '--csv', '--of', 'work')).stdout.trimEnd().split('\n');
    expect(work).toHaveLength(15);
    expect(work.at(-1)).toMatch(new RegExp(`^${REALM_ID},${today()},.*,0\\.9565,23,0,0,`));
  });

  test.each([
    [['--since', '2026-02-30'], '--since: expected a day'],
    [['--since', '2026-03-02', '--until', '2026-03-01'], 'is after the last one'],
    [['--since', '2020-01-01'], 'are more than the 750'],
    [['--of', 'work'], '--of says what --csv prints'],
  ])('refuses %j', async (args, said) => {
    const { status, stderr } = await world.run('stats', ...args);
    expect([status, stderr]).toEqual([2, expect.stringContaining(said)]);
  });

  test('refuses a realm that nobody knows', async () => {
    expect((await world.run('stats', '--realm', 'nowhere')).status).toBe(2);
  });
});

describe('statement', () => {
  test('is what the realm has logged in the month, and is final only when the month is over', async () => {
    const { orders, ...tokens } = await recount();
    expect(document(await world.run('statement', month(), '--json'))).toMatchObject({
      month: month(),
      final: false,
      lines: [
        {
          realm: REALM_ID,
          currency: null,
          paid: orders,
          tokens,
          net: '204',
          open: 0,
          openTokens: { credit: '0', debit: '0', transfer: '0' },
        },
      ],
    });
    const before = await world.run('statement', '2026-01');
    expect(before.stdout).toContain('Statement of 2026-01 (UTC)');
    expect(before.stdout).toContain(': final\n  Nothing was sent in this month.');
  });

  test('prints CSV that can be filed', async () => {
    const [head, line] = (await world.run('statement', month(), '--csv')).stdout.split('\n');
    expect(head).toContain('month,realm,realm_id,address,currency,paid_orders,tokens_given,tokens_taken');
    expect(line).toMatch(
      new RegExp(`^${month()},${REALM_ID},${REALM_ID},http.*,,22,210,6,4,204,0,0,0,0,no,2`),
    );
  });

  test('has a rehearsal only where it is named, and refuses what is no month', async () => {
    expect((await world.run('rehearse', 'gifts.csv')).status).toBe(0);
    expect((await world.run('statement', month())).stdout).not.toContain('rehearsal');
    expect((await world.run('statement', month(), '--realm', 'rehearsal')).stdout).toContain('(rehearsal)');
    expect((await world.run('statement', '2026-13')).status).toBe(2);
  });
});
