import { expect, test } from 'vitest';
import { registerRealm } from '../../src/ledger/index.js';
import { REALMS_KEY } from '../../src/ledger/keys.js';
import { verifyRealms } from '../../src/operations/backup/verify.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';

const bench = ledgersOnRedis();

test('a ledger that is in no list of realms is a difference', async () => {
  const ledger = await bench.ledger();
  await registerRealm(ledger);
  await sealed(ledger, [{}]);
  const differences = async () =>
    (await verifyRealms(ledger.scripts, { isEmbedded: false, onBatches: () => {} }))
      .filter((one) => one.ledger === ledger.id)
      .flatMap((one) => one.differences);
  expect(await differences()).toEqual([]);
  await ledger.scripts.redis.hdel(REALMS_KEY, ledger.id);
  expect(await differences()).toEqual([`ledger ${ledger.id} is in the store and in no list of realms`]);
});
