import { expect, test } from 'vitest';
import { retryOrder } from '../../src/ledger/moves/retry.js';
import { sealNumber } from '../../src/ledger/read/batch-facts.js';
import { comparedWith } from '../../src/planning/paid-before/compared-batches.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll, moment, sendAs } from '../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const DAY_MS = 24 * 3_600_000;

test('rows are compared with what is open or ended lately, with what is named, and with all since the order they stand in for', async () => {
  const ledger = await bench.ledger();
  const old = await sealed(ledger, [{}, {}], { id: 'old' });
  await feedAll(old);
  await sendAs(old, 1, 'P');
  await sendAs(old, 2, 'R');
  const later = await sealed(ledger, [{}], { id: 'later' });
  await feedAll(later);
  await sendAs(later, 1, 'P');
  await sealed(ledger, [{}], { id: 'open' });
  const idsAt = async (
    now: number,
    more: { whenever?: readonly string[]; sinces?: readonly number[] } = {},
  ) => (await comparedWith(ledger, { whenever: [], sinces: [], ...more, now })).map(({ id }) => id);
  const [soon, muchLater] = [Date.now(), Date.now() + 40 * DAY_MS];
  expect(await idsAt(soon)).toEqual(['open', 'later', 'old']);
  expect(await idsAt(muchLater)).toEqual(['open']);
  expect(await idsAt(muchLater, { whenever: [old.no] })).toEqual(['open', 'old']);
  const seal = (await sealNumber(ledger, later.no)) ?? 0;
  expect(await idsAt(muchLater, { sinces: [seal] })).toEqual(['open', 'later']);
  // An old batch has paid anew since then, by a retry.
  expect(await retryOrder(old.ref, 2, old.row(2), { who: 'ada', why: null, at: moment(), nonce: 'r' })).toBe(
    'ok',
  );
  await feedAll(old);
  await sendAs(old, 2, 'P', { nonce: 'again' });
  expect(await idsAt(muchLater, { sinces: [seal] })).toEqual(['open', 'later', 'old']);
});
