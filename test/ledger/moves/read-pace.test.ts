import { describe, expect, test } from 'vitest';
import { readPaceState } from '../../../src/ledger/pace/pace.js';
import { ledgersOnRedis } from '../../support/ledger/ledgers-on-redis.js';
import { HISTORY_RATE, RefusalHistory } from '../../support/ledger/refusal-history.js';

const bench = ledgersOnRedis();

describe('read-pace', () => {
  test.each([
    [7, 0],
    [8, 8],
  ])(
    '%i requests of others are told as %i beside a limit found by being refused: room is made by the configured one',
    async (seen, told) => {
      const history = new RefusalHistory(await bench.ledger());
      await history.halved(2);
      const { ledger } = history;
      const { requests, windowMs } = HISTORY_RATE;
      await ledger.scripts.redis.hset(`${ledger.keyPrefix}:pace:l:${requests}/${windowMs}`, {
        others: seen,
        othersAt: Date.now(),
      });
      expect(await readPaceState(ledger, HISTORY_RATE)).toMatchObject({
        learnt: { requests: 25, by: 'refusals' },
        others: told,
      });
    },
  );
});
