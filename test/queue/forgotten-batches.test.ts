import { expect, test } from 'vitest';
import { mergeParked } from '../../src/ledger/journal/merge.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { acceptMissing, REMOVED } from '../../src/ledger/sessions/accept-missing.js';
import { attemptOf, merge, mergeContext, PAID } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';

const bench = ledgersOnRedis();

test('what an accepted loss leaves of a forgotten batch is in doubt when it is imported again, and not planned', async () => {
  const ledger = await bench.ledger();
  const elsewhere = await sealed(await bench.ledger(), [{}, {}, {}], { id: 'forgotten' });
  const known = { ...elsewhere, ledger };
  const context = mergeContext(known, 'manual');
  // The journals that were removed are missed, and what is left of them knows one payment of the batch.
  await acceptMissing(context, REMOVED, { who: 'ada', at: Date.now() });
  await merge(known, 'manual', attemptOf(known, 1, PAID));
  const again = await sealed(ledger, [{}, {}, {}], { id: 'forgotten' });
  expect(await feedAll(again)).toEqual([]);
  await mergeParked(mergeContext(again, 'manual'));
  expect((await readBatch(again.ref))?.counts).toEqual({ paid: 1, doubt: 2 });
  expect(await feedAll(again)).toEqual([]);
});
