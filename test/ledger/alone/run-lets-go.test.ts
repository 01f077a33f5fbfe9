import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { withdrawApprovals } from '../../../src/ledger/moves/approvals.js';
import { resumeBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { approveBatch } from '../../support/ledger/approve-batch.js';
import { mergeAttempts } from '../../support/ledger/forgotten-batch.js';
import { attemptOf, PAID } from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { begin, feedAll, sendAs } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const over = (overTokens: number | null): Requirement => ({ overTokens, overRows: null });
const as = (ledger: RealmLedger, overTokens: number | null): RealmLedger => ({
  ...ledger,
  mark: { ...ledger.mark },
  asked: { ...ledger.asked, requirement: over(overTokens) },
  batchers: new Map(),
});
const byAda = (tokens: number | null) => ({ who: 'ada', limits: over(tokens) });

import { feed } from '../../support/ledger/feed-one.js';

/** The condition on which operations/pay/run-batch.ts ends. */
const LEFT = { gate: { closed: 'approval' }, owner: '', counts: { planned: 1 } };

test('a run whose feeder meets the approval gate releases a batch that journals restored', async () => {
  const lax = as(await bench.ledger(), null);
  const batch = await sealed(lax, [{ tokens: 60 }, { tokens: 101 }], { id: 'zz-h', prepared: byAda(null) });
  await mergeAttempts(batch, attemptOf(batch, 1, PAID));
  const resumed = await resumeBatch(batch.ref, null as never, { owner: 'run-1', from: '' } as never);
  expect(resumed.done).toBe(true);
  const ledger = as(lax, 100);
  const view0 = await readBatch(batch.ref);
  expect([view0?.gate?.closed ?? null, view0?.owner]).toEqual([null, 'run-1']);
  expect(await feed(ledger, batch.no, 10, 'run-1')).toEqual([]);
  expect(await readBatch(batch.ref)).toMatchObject(LEFT);
  // ben approves while the run is paused at the gate.
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  expect(await feed(ledger, batch.no, 10, '')).toEqual([2]);
});
test('a run releases the batch if the approver’s token is revoked between its takeover and its first look', async () => {
  const lax = as(await bench.ledger(), null);
  const ledger = as(lax, 100);
  const batch = await sealed(lax, [{ tokens: 60 }, { tokens: 101 }], { id: 'zz-h2', prepared: byAda(null) });
  await feedAll(batch);
  await sendAs(batch, 1, 'P');
  const mine = { ...batch, ledger, ref: { ...batch.ref, ledger } };
  expect(await begin(mine, 2, { nonce: 'x2' })).toMatchObject({ refusal: 'approval' });
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  expect((await resumeBatch(batch.ref, null as never, { owner: 'run-1', from: '' } as never)).done).toBe(
    true,
  );
  await withdrawApprovals(ledger.scripts, 'ben');
  expect(await feed(ledger, batch.no, 10, 'run-1')).toEqual([]);
  expect(await readBatch(batch.ref)).toMatchObject(LEFT);
});
