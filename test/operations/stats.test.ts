import { expect, test } from 'vitest';
import { foldOldDays } from '../../src/ledger/moves/fold-day.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { readStatement } from '../../src/operations/totals/statement.js';
import { readStats } from '../../src/operations/totals/stats.js';
import { attemptOf, merge } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { begun, feedAll, settleAs } from '../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const NOW = Date.UTC(2026, 10, 17, 12);

/** One credit of so many tokens, paid at noon of each of these days. */
async function paidOn(ledger: RealmLedger, days: readonly (readonly [day: string, tokens: number])[]) {
  const batch = await sealed(
    ledger,
    days.map(([, tokens]) => ({ tokens })),
  );
  for (const [at, [day]] of days.entries()) {
    const sentAt = Date.parse(`${day}T12:00:00Z`);
    const record = `P|1|1|0|200|105|${sentAt.toString(36)}|1|a|`;
    await merge(batch, 'manual', attemptOf(batch, at + 1, record, { sentAt, firstSentAt: sentAt }));
  }
}

const DAYS = [
  ['2025-12-31', 1],
  ['2026-01-04', 2],
  ['2026-01-05', 4],
  ['2026-02-01', 8],
] as const;

async function paidBy(ledger: RealmLedger, by: 'day' | 'week' | 'month', since: string, until: string) {
  const stats = await readStats(ledger.scripts, { realm: ledger.realm.realmId, by, since, until }, NOW);
  const [realm] = stats.realms;
  const tokens = (outcomes: readonly { readonly tokens: bigint }[]) =>
    Number(outcomes.reduce((sum, one) => sum + one.tokens, 0n));
  return {
    periods: (realm?.periods ?? []).map(({ period, outcomes }) => [period, tokens(outcomes)]),
    whole: tokens(realm?.whole.outcomes ?? []),
    before: [realm?.before.from, realm?.before.to, tokens(realm?.before.outcomes ?? [])],
  };
}

test('days are grouped into weeks that begin on Monday, and into months; the days before are as many', async () => {
  const ledger = await bench.ledger();
  await paidOn(ledger, DAYS);
  expect(await paidBy(ledger, 'week', '2025-12-29', '2026-01-11')).toEqual({
    periods: [
      ['2026-W01', 3],
      ['2026-W02', 4],
    ],
    whole: 7,
    before: ['2025-12-15', '2025-12-28', 0],
  });
  expect(await paidBy(ledger, 'month', '2026-01-01', '2026-02-28')).toEqual({
    periods: [
      ['2026-01', 6],
      ['2026-02', 8],
    ],
    whole: 14,
    before: ['2025-11-03', '2025-12-31', 1],
  });
  expect((await paidBy(ledger, 'day', '2026-01-03', '2026-01-05')).periods).toEqual([
    ['2026-01-03', 0],
    ['2026-01-04', 2],
    ['2026-01-05', 4],
  ]);
});

test('a month whose days were folded stands by itself among days, and is whole in its statement', async () => {
  const ledger = await bench.ledger();
  await paidOn(ledger, [
    ['2023-05-30', 16],
    ['2023-06-02', 32],
  ]);
  await foldOldDays(ledger);
  expect((await paidBy(ledger, 'day', '2023-05-31', '2023-06-01')).periods).toEqual([
    ['2023-05', 16],
    ['2023-05-31', 0],
    ['2023-06', 32],
    ['2023-06-01', 0],
  ]);
  expect((await paidBy(ledger, 'month', '2023-05-01', '2023-06-30')).periods).toEqual([
    ['2023-05', 16],
    ['2023-06', 32],
  ]);
  const { lines, final } = await readStatement(ledger.scripts, '2023-05', ledger.realm.realmId, NOW);
  expect(final).toBe(true);
  expect(lines).toMatchObject([{ paid: 1, tokens: { credit: 16n }, net: 16n }]);
});

test('a statement is not final while an order of a batch that began in its month is being sent', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{ tokens: 5 }, { tokens: 7 }]);
  await feedAll(batch);
  const of = await begun(batch, 1);
  const now = Date.now();
  const month = new Date(now).toISOString().slice(0, 7);
  const afterIt = now + 40 * 86_400_000;
  const read = (wanted: string) => readStatement(ledger.scripts, wanted, ledger.realm.realmId, afterIt);
  expect(await read(month)).toMatchObject({ final: false, sending: 1 });
  expect(await read('2023-05')).toMatchObject({ final: true, sending: 0 });
  await settleAs(batch, 1, 'P', of);
  expect(await read(month)).toMatchObject({ final: true, sending: 0, lines: [{ paid: 1, open: 0 }] });
});
