import { expect, test } from 'vitest';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readBatchStanding, readRealmStanding } from '../../../src/ledger/read/standing.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { begun, concludeAs, feedAll, sendAs, settleAs } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();

test('orders that moved between the counts and the look are not reported as waiting', async () => {
  const batch = await sealed(await bench.ledger(), [{}, {}, {}, {}], {
    manifest: { certainty: 'idempotent' },
  });
  await feedAll(batch);
  await sendAs(batch, 1, 'u');
  await sendAs(batch, 2, 'D');
  const third = await begun(batch, 3);
  const view = await readBatch(batch.ref);
  if (view === undefined) throw new Error('not sealed');
  expect(view.counts).toEqual({ unknown: 1, doubt: 1, sending: 1, planned: 1 });
  await concludeAs(batch, 1, 'u', 'P');
  await concludeAs(batch, 2, 'D', 'P');
  await settleAs(batch, 3, 'P', third);
  const standing = await readBatchStanding(batch.ref, view, await readRealmStanding(batch.ledger));
  expect(standing).toMatchObject({ sending: [], unknown: { untilMs: null } });
});
