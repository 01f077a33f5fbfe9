import { expect, test } from 'vitest';
import type { QuietHours } from '../../src/core/quiet-hours.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { storeNowMs } from '../../src/ledger/realm-ledger.js';
import { approveBatch } from '../support/ledger/approve-batch.js';
import { ledgersOnRedis, type SealOptions, sealed } from '../support/ledger/ledgers-on-redis.js';
import { startWorkerInProcess } from '../support/ledger/worker-in-process.js';
import { until } from '../support/until.js';

/** Quiet hours hold requests back, not the approval gate: a batch may begin in them, but sends nothing. */
const bench = ledgersOnRedis();
const OVER_100 = { overTokens: 100, overRows: null };
const WEEK_MINUTES = 7 * 24 * 60;

function aroundNow(): QuietHours {
  const now = new Date();
  const minute = ((now.getUTCDay() + 6) % 7) * 24 * 60 + now.getUTCHours() * 60 + now.getUTCMinutes();
  const [from, to] = [minute - 60, minute + 120].map((at) => (at + WEEK_MINUTES) % WEEK_MINUTES);
  return { zone: 'UTC', texts: ['now'], spans: [{ from: from ?? 0, to: to ?? 0 }] };
}

test('a set time passes, an approval is used up, and a batch within one person’s limit begins', async () => {
  const ledger = await bench.ledger();
  const make = (id: string, who: string, tokens: number, more: SealOptions = {}) =>
    sealed(ledger, [{ tokens }], { id, ...more, prepared: { who, limits: OVER_100, ...more.prepared } });
  const start = { at: (await storeNowMs(ledger)) + 1_500, zone: 'UTC' };
  const timed = await make('timed', 'ada', 10, { prepared: { start } });
  const inOrder = await make('in-order', 'cleo', 10, { manifest: { inOrder: true } });
  const approved = await make('approved', 'ada', 500);
  const unseen = await make('unseen', 'ada', 600);
  expect(await approveBatch(approved.ref, 'ben')).toBe('approved');
  await startWorkerInProcess(timed, bench.redis(), 'http://127.0.0.1:1', { quietHours: aroundNow() });
  for (const { ref } of [timed, inOrder, approved])
    await until('it to begin', async () => (await readBatch(ref))?.gate === null, 20_000);
  for (const { ref } of [timed, inOrder, approved])
    expect(await readBatch(ref)).toMatchObject({ state: 'running', counts: { planned: 1 } });
  expect((await readBatch(timed.ref))?.startedAt).toBeGreaterThanOrEqual(start.at);
  expect(await readBatch(unseen.ref)).toMatchObject({ state: 'planned', gate: { closed: 'approval' } });
  const { redis } = ledger.scripts;
  for (const { no } of [timed, inOrder, approved])
    expect(await redis.zcard(`${ledger.keyPrefix}:b:${no}:due`)).toBe(0);
});
