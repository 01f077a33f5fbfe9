import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { ledgersOnRedis, limitedTo, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { begin, feedAll, sendAs, settleAs } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const OVER_100: Requirement = { overTokens: 100, overRows: null };

for (const [name, lax] of [
  ['no limits', { overTokens: null, overRows: null }],
  ['other limits', { overTokens: 100_000, overRows: null }],
] as const) {
  test(`a one-token retry under a personal profile (${name}) does not clear what was paid alone today`, async () => {
    // The sender’s profile lets one person pay 100 tokens in 24 hours.
    const sender = limitedTo(await bench.ledger(), OVER_100);
    let paid = 0;
    for (let day = 0; day < 5; day++) {
      const batch = await sealed(sender, [{ tokens: 90 }, { tokens: 1 }], {
        id: `b-${day}`,
        prepared: { who: 'ada', limits: OVER_100 },
      });
      if ((await feedAll(batch)).length === 0) break;
      await sendAs(batch, 1, 'P');
      paid += 90;
      // The member does not exist.
      await sendAs(batch, 2, 'R');
      const nonce = `r-${day}`;
      // ada retries it with her own configuration.
      if (lax.overTokens !== null) {
        const { retriesOf } = await import('../../../src/operations/dead/retries.js');
        const { requestRetry } = await import('../../../src/ledger/moves/approvals.js');
        const { tokens, hash } = await retriesOf(batch.ref, [2]);
        const { answer } = await requestRetry(batch.ref, {
          who: 'ada',
          hash,
          why: null,
          limits: lax,
          tokens,
          indexes: [2],
        });
        expect(answer).toBe('alone');
      }
      expect(
        await retryOrder(batch.ref, 2, batch.row(2), { who: 'ada', why: null, at: 1, nonce, limits: lax }),
      ).toBe('ok');
      const begun = await begin(batch, 2, { nonce });
      if ('refusal' in begun) break;
      await settleAs(batch, 2, 'R', begun, { nonce });
    }
    // All within one second.
    expect(paid).toBeLessThanOrEqual(100);
  });
}
