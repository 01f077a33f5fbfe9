import { expect, test } from 'vitest';
import { totalsKeys } from '../../../src/ledger/keys.js';
import { archiveBatch } from '../../../src/ledger/moves/archive-batch.js';
import { foldOldDays } from '../../../src/ledger/moves/fold-day.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { takeSlots } from '../../../src/ledger/pace/pace.js';
import { readGroups, readRealmNumbers, readTotals, readWork } from '../../../src/ledger/read/totals.js';
import { verifyLedger } from '../../../src/ledger/read/verify.js';
import { openLedger, type RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { attemptOf, merge, PAID } from '../../support/ledger/journaled-attempt.js';
import { type Line, ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { begun, concludeAs, feedAll, sendAs, settleAs } from '../../support/ledger/order-moves.js';
import { tempFolder } from '../../support/temp-folder.js';

const bench = ledgersOnRedis();
const today = () => new Date().toISOString().slice(0, 10);

const RULE = {
  account: 'daily-login:2026-03-01',
  limit: null,
  number: null,
  id: 'run-1',
  record: '{}',
  schedule: null,
};

/** Amounts that entered and left, such as 'credit paid +2 (12) -0 (0)'. */
async function flows(ledger: RealmLedger): Promise<string[]> {
  const all = await readTotals(ledger);
  return all.flatMap(({ period, currency, flows: list }) =>
    list.map(
      ({ op, outcome, entered, left, tokensEntered, tokensLeft }) =>
        `${period} ${currency ?? '-'} ${op} ${outcome} +${entered} (${tokensEntered}) -${left} (${tokensLeft})`,
    ),
  );
}

async function groups(ledger: RealmLedger, kind: 'rule' | 'reason'): Promise<string[]> {
  return (await readGroups(ledger, kind)).map(
    ({ label, paid, unpaid, tokens }) =>
      `${label}: ${paid} paid, ${unpaid} not, ${tokens.credit} ${tokens.debit} ${tokens.transfer}`,
  );
}

test('amounts that enter or leave an outcome are counted by day, currency and op, and by rule and reason', async () => {
  const ledger = await bench.ledger();
  const lines: Line[] = [
    { reason: 'quiz' },
    { op: 'debit', tokens: 7 },
    { to: '77', tokens: 9, reason: 'quiz' },
    { reason: 'late' },
  ];
  const batch = await sealed(ledger, lines, { manifest: { currency: 'gold' } });
  await feedAll(batch);
  for (const index of [1, 2, 3]) await sendAs(batch, index, 'P');
  await sendAs(batch, 4, 'R');
  const by = { who: 'ada', why: null, at: 1, nonce: 'again' };
  expect(await retryOrder(batch.ref, 4, batch.row(4), by)).toBe('ok');
  await sendAs(batch, 4, 'u', { nonce: 'second' });
  await concludeAs(batch, 4, 'u', 'P');
  const run = await sealed(ledger, [{ tokens: 3 }], { id: 'run', run: RULE });
  await feedAll(run);
  await sendAs(run, 1, 'P');
  expect(await flows(ledger)).toEqual([
    `${today()} - credit paid +1 (3) -0 (0)`,
    `${today()} gold credit paid +2 (10) -0 (0)`,
    `${today()} gold credit refused +1 (5) -1 (5)`,
    `${today()} gold credit unknown +1 (5) -1 (5)`,
    `${today()} gold debit paid +1 (7) -0 (0)`,
    `${today()} gold transfer paid +1 (9) -0 (0)`,
  ]);
  expect(await groups(ledger, 'rule')).toEqual([
    'daily-login: 1 paid, 0 not, 3 0 0',
    '(file): 4 paid, 1 not, 10 7 9',
  ]);
  expect(await groups(ledger, 'reason')).toEqual([
    ': 1 paid, 0 not, 3 0 0',
    'quiz: 2 paid, 0 not, 5 0 9',
    ': 1 paid, 0 not, 0 7 0',
    'late: 1 paid, 1 not, 5 0 0',
  ]);
  const [work] = await readWork(ledger);
  expect(work).toMatchObject({ period: today(), requests: 6, retries: 1, rateLimited: 0 });
  expect(work?.latency.reduce((sum, { count }) => sum + count, 0)).toBe(6);
  expect(await verifyLedger(ledger)).toMatchObject({ differences: [], unchecked: [] });
});

test('a late answer counts on the day on which the order was sent', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}, {}]);
  await feedAll(batch);
  await merge(batch, 'idempotent', attemptOf(batch, 1, PAID));
  await merge(batch, 'idempotent', attemptOf(batch, 2, null));
  await merge(batch, 'idempotent', attemptOf(batch, 2, PAID));
  expect(await flows(ledger)).toEqual([
    '2026-03-01 - credit paid +2 (10) -0 (0)',
    '2026-03-01 - credit unknown +1 (5) -1 (5)',
  ]);
  expect(await readWork(ledger)).toMatchObject([{ period: '2026-03-01', requests: 3 }]);
  expect(await verifyLedger(ledger)).toMatchObject({ differences: [], unchecked: [] });
});

test('archiving changes no total, and the batches still add up to the totals', async () => {
  const { realm } = await bench.ledger();
  const folder = await tempFolder();
  const ledger = openLedger(
    new ScriptClient(bench.redis().client(), 10_000, () => {}, { archiveFolder: folder }),
    realm,
  );
  const batch = await sealed(ledger, [{}, {}]);
  await feedAll(batch);
  await sendAs(batch, 1, 'P');
  await sendAs(batch, 2, 'R');
  const before = await readRealmNumbers(ledger);
  expect(before.work.requests).toBe(2);
  expect(await archiveBatch(batch.ref, folder)).toMatchObject({ rows: 2 });
  expect(await readRealmNumbers(ledger)).toEqual(before);
  expect(await verifyLedger(ledger)).toMatchObject({ batches: 1, differences: [], unchecked: [] });
});

const ENDS = ['P', 'P', 'P', 'X', 'D', 'R', 'u'] as const;

test('a realm and day take 16 kB at most, with the longest labels and more of them than are kept', async () => {
  const ledger = await bench.ledger();
  const most = 2 ** 52;
  const lines = Array.from({ length: 75 }, (_, i): Line => {
    const reason = `${i % 25} ${'ä'.repeat(60)}`;
    const way = i % 3 === 0 ? {} : i % 3 === 1 ? { op: 'debit' as const } : { to: '77' };
    return { reason, tokens: most, ...way };
  });
  for (let rule = 0; rule < 25; rule++) {
    const run = {
      ...RULE,
      account: `${String(rule).padStart(2, 'r')}${'r'.repeat(46)}:2026-03-01`,
      id: `run-${rule}`,
    };
    const batch = await sealed(ledger, lines, {
      id: `run-${rule}`,
      run,
      manifest: { currency: 'c'.repeat(128) },
    });
    await feedAll(batch);
    for (const index of lines.keys())
      await sendAs(batch, index + 1, ENDS[index % ENDS.length] ?? 'P', {
        latencyMs: 2 ** (((rule * lines.length + index) % 68) / 4),
      });
  }
  await takeSlots(
    ledger,
    { requests: 10, windowMs: 1000, reserve: 0 },
    { timeoutMs: 1000, wanted: 1, session: '' },
  );
  const { redis } = ledger.scripts;
  const T = ledger.keyPrefix;
  const keys = (await redis.keys(`${T}:*`)).filter((key) => key.includes(today()) && !key.includes(':days'));
  expect(keys.length).toBe(4);
  const sizes = await Promise.all(
    keys.map(async (key) => Number(await redis.memory('USAGE', key, 'SAMPLES', 0))),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(16_384);
  const found = await readGroups(ledger, 'reason');
  expect(found.length).toBe(21);
  expect(found.filter(({ label }) => label === null)).toMatchObject([{ paid: expect.any(Number) }]);
  expect(found.every(({ label }) => Buffer.byteLength(label ?? '') <= 48 && !label?.includes('\ufffd'))).toBe(
    true,
  );
  expect(await verifyLedger(ledger)).toMatchObject({ differences: [], unchecked: [] });
});

test('days older than two years are folded into their month, and later amounts are folded again', async () => {
  const ledger = await bench.ledger();
  const sentAt = Date.UTC(2023, 4, 6, 12);
  const batch = await sealed(ledger, [{ reason: 'quiz' }, { reason: 'prize' }, { reason: 'quiz' }, {}]);
  await feedAll(batch);
  const old = (index: number, at = sentAt) =>
    merge(
      batch,
      'manual',
      attemptOf(batch, index, PAID.replace(/\|[^|]*\|1\|a\|$/, `|${at.toString(36)}|1|a|`), {
        sentAt: at,
        firstSentAt: at,
      }),
    );
  await sendAs(batch, 4, 'P');
  await old(1);
  await old(2, sentAt + 24 * 3600_000);
  const before = await readRealmNumbers(ledger);
  expect(await foldOldDays(ledger)).toEqual(['2023-05-06', '2023-05-07']);
  await old(3);
  expect(await verifyLedger(ledger)).toMatchObject({ differences: [], unchecked: [] });
  expect(await foldOldDays(ledger)).toEqual(['2023-05-06']);
  expect(await flows(ledger)).toEqual([
    '2023-05 - credit paid +3 (15) -0 (0)',
    `${today()} - credit paid +1 (5) -0 (0)`,
  ]);
  expect(await groups(ledger, 'reason')).toEqual([
    'quiz: 2 paid, 0 not, 10 0 0',
    'prize: 1 paid, 0 not, 5 0 0',
    ': 1 paid, 0 not, 5 0 0',
  ]);
  expect(await readWork(ledger)).toMatchObject([{ period: '2023-05', requests: 3 }, { requests: 1 }]);
  expect(
    (await readTotals(ledger, { from: '2023-05-20', to: '2023-06-01' })).map(({ period }) => period),
  ).toEqual(['2023-05']);
  expect((await readRealmNumbers(ledger)).work.requests).toBe(before.work.requests + 1);
  expect(await verifyLedger(ledger)).toMatchObject({ differences: [], unchecked: [] });
});

test('the allowed rate counts while slots are requested, and not during a pause', async () => {
  const ledger = await bench.ledger();
  const ask = { timeoutMs: 1000, wanted: 1, session: '' };
  const rate = { requests: 600, windowMs: 60_000, reserve: 0 };
  const take = async () => {
    expect(await takeSlots(ledger, rate, ask)).toMatchObject({ answer: 'go' });
    const [work] = await readWork(ledger);
    return [work?.granted, Math.round(work?.allowed ?? 0)];
  };
  const restedFor = (ms: number) =>
    ledger.scripts.ask('step back', async (redis) => {
      const pace = `${ledger.keyPrefix}:pace`;
      await redis.hset(pace, 'last', Number(await redis.hget(pace, 'last')) - ms);
    });
  expect(await take()).toEqual([1, 1]);
  await restedFor(3_000);
  const [granted, allowed = 0] = await take();
  // Ten a second, plus the time that this machine took for the step.
  expect([granted, allowed >= 31 && allowed < 60]).toEqual([2, true]);
  await restedFor(60_000);
  expect(await take()).toEqual([3, allowed + 1]);
});

const day = () => `${today()}:gold`;
const FAULTS: [string, (T: string) => [key: string, field: string], RegExp][] = [
  ['orders of a day', (T) => [`${T}:sum:${day()}`, 'cP+'], /cP\+ is 1, the periods say 2/],
  ['tokens of a day', (T) => [`${T}:sum:${day()}`, 'cP+t'], /cP\+t is 5, the periods say 6/],
  ['orders that left', (T) => [`${T}:sum:${day()}`, 'cR-'], /cR- is 1, the periods say 2/],
  ['tokens that left', (T) => [`${T}:sum:${day()}`, 'cR-t'], /cR-t is 5, the periods say 6/],
  ['orders over all', (T) => [`${T}:sum:all:gold`, 'cP+'], /2 are in cP gold, orders say 1/],
  [
    'orders that left over all',
    (T) => [`${T}:sum:all:gold`, 'cR-'],
    /1 are in cR gold, orders say 0|-1 are in cR gold/,
  ],
  ['tokens over all', (T) => [`${T}:sum:all:gold`, 'cP+t'], /6 are in cPt gold, orders say 5/],
  ['orders by rule', (T) => [`${T}:by:rule:${day()}`, 'aP'], /rules of .*: P adds up to 2, the totals say 1/],
  [
    'unpaid orders by rule',
    (T) => [`${T}:by:rule:${day()}`, 'aU'],
    /rules of .*: U adds up to 2, the totals say 1/,
  ],
  [
    'tokens by reason',
    (T) => [`${T}:by:reason:${day()}`, 'ac'],
    /reasons of .*: c adds up to 6, the totals say 5/,
  ],
  ['a label without orders', (T) => [`${T}:by:reason:${day()}`, 'c'], /reasons of .*: label c has no order/],
  ['an unknown group', (T) => [`${T}:by:reason:${day()}`, 'aZ'], /reasons of .*: no field is called aZ/],
  ['an unknown sum', (T) => [`${T}:sum:${day()}`, 'zz'], /no field is called zz/],
  ['requests', (T) => [`${T}:work:all`, 'requests'], /requests is 3, (?:the periods|batches) say 2/],
  ['retries', (T) => [`${T}:work:all`, 'retries'], /retries is 1, batches say 0/],
  ['refusals of the rate', (T) => [`${T}:work:${today()}`, 'limited'], /limited is 0, the periods say 1/],
  ['latencies', (T) => [`${T}:work:all`, 'b22'], /b22 is 3, batches say 2/],
];

test.each(FAULTS)('verify names %s that were changed', async (_, where, said) => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}, { reason: 'quiz' }], { manifest: { currency: 'gold' } });
  await feedAll(batch);
  await sendAs(batch, 1, 'P');
  await sendAs(batch, 2, 'R');
  await retryOrder(batch.ref, 2, batch.row(2), { who: 'ada', why: null, at: 1, nonce: 'again' });
  expect((await verifyLedger(ledger)).differences).toEqual([]);
  const [key, field] = where(ledger.keyPrefix);
  await ledger.scripts.redis.hincrby(key, field, 1);
  expect((await verifyLedger(ledger)).differences.join('\n')).toMatch(said);
});

test('verify names a paid order that was counted on another day', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}]);
  await feedAll(batch);
  await settleAs(batch, 1, 'P', await begun(batch, 1));
  const { redis } = ledger.scripts;
  const keys = totalsKeys(ledger.keyPrefix);
  await redis.rename(keys.sum(today(), ''), keys.sum('2026-01-01', ''));
  for (const kind of ['rule', 'reason'])
    await redis.rename(keys.by(kind, today(), ''), keys.by(kind, '2026-01-01', ''));
  await redis.srem(keys.index, `${today()}:`);
  expect((await verifyLedger(ledger)).differences.join()).toContain(
    'totals sum:2026-01-01: are in the store and in no list',
  );
  await redis.sadd(keys.index, '2026-01-01:');
  const { differences } = await verifyLedger(ledger);
  expect(differences).toContain('totals of 2026-01-01 cP: 1 entered, orders say 0');
  await redis.sadd(keys.index, '2025-01-01:gold');
  expect((await verifyLedger(ledger)).differences).toContain(
    'totals of 2025-01-01:gold are listed and not there',
  );
});
