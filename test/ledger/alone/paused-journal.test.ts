import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { pauseBatch, resumeBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { approveBatch } from '../../support/ledger/approve-batch.js';
import { mergeAttempts } from '../../support/ledger/forgotten-batch.js';
import { attemptOf, REFUSED } from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, limitedTo, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { audit, begin, feedAll, settleAs, WHY } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const OVER_100: Requirement = { overTokens: 100, overRows: null };

for (const isPaused of [true, false])
  test(`an approval covers the rest that was shown of a recovered batch whose store is from before it began (${isPaused ? 'paused' : 'waiting'})`, async () => {
    const ledger = limitedTo(await bench.ledger(), OVER_100);
    const batch = await sealed(ledger, [{ tokens: 5000 }, { tokens: 101 }], {
      id: `zz-p${isPaused}`,
      prepared: { who: 'ada', limits: OVER_100 },
    });
    if (isPaused) await pauseBatch(batch.ref, WHY, audit('paused'));
    await mergeAttempts(batch, attemptOf(batch, 1, REFUSED));
    const view = await readBatch(batch.ref);
    expect(view?.counts).toEqual({ planned: 1, refused: 1 });
    // ben is shown that 1 order of 101 tokens is left.
    expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
    if (isPaused) await resumeBatch(batch.ref, audit('resumed'), { owner: '' });
    expect(await feedAll(batch)).toEqual([2]);
    const answer = await retryOrder(batch.ref, 1, batch.row(1), {
      who: 'ada',
      why: null,
      at: 1,
      nonce: 'r',
      limits: OVER_100,
      person: 'ada',
    });
    expect.soft(answer).not.toBe('ok');
    await feedAll(batch);
    const begun = await begin(batch, 1, { nonce: 'n' });
    if (!('refusal' in begun)) await settleAs(batch, 1, 'P', begun, { nonce: 'n' });
    expect(begun).toHaveProperty('refusal');
  });
