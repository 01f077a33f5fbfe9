import { expect, test } from 'vitest';
import { mergeParked } from '../../src/ledger/journal/merge.js';
import { markForgotten, park, parkedAttempts } from '../../src/ledger/journal/parked.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { openLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { attemptOf, mergeContext, PAID } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll, sendAs } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';

/** Payments of a forgotten batch, which several machines know a part of each. */
const bench = ledgersOnRedis();

/** What the ledger of another past knew, seen from one that has forgotten it. */
async function forgotten() {
  const ledger = await bench.ledger();
  const elsewhere = await sealed(await bench.ledger(), [{}, {}, {}], { id: 'forgotten' });
  return { ledger, known: { ...elsewhere, ledger } };
}

test('what one puts by while another puts its own back is not lost with it', async () => {
  const { ledger, known } = await forgotten();
  await park(ledger, attemptOf(known, 1, PAID, { nonce: 'one' }));
  const again = await sealed(ledger, [{}, {}, {}], { id: 'forgotten' });
  // The other one has looked before the import, and puts by what it knows once the first has read what there is.
  const scripts = new ScriptClient(bench.redis().client(), 10_000, () => {});
  const script = scripts.script.bind(scripts);
  scripts.script = async (name, ...rest) => {
    if (name === 'unpark') await park(ledger, attemptOf(known, 2, PAID, { nonce: 'two' }));
    return script(name, ...rest);
  };
  const first = { ...mergeContext(again, 'manual'), ledger: openLedger(scripts, ledger.realm) };
  await mergeParked(first);
  expect(await feedAll(again)).toEqual([]);
  expect(await parkedAttempts(ledger)).toMatchObject([{ attempts: [{ intent: { nonce: 'two' } }] }]);
  await mergeParked(mergeContext(again, 'manual'));
  expect((await readBatch(again.ref))?.counts).toEqual({ paid: 2, planned: 1 });
  expect(await parkedAttempts(ledger)).toEqual([]);
});

test('a loss that is accepted while one puts by counts for it, before or after', async () => {
  const { ledger, known } = await forgotten();
  const redis = bench.redis().client();
  const slow = new Proxy(redis, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        const reply: unknown = await value.apply(target, args);
        await markForgotten(ledger);
        return reply;
      };
    },
  });
  await park(openLedger(new ScriptClient(slow, 10_000, () => {}), ledger.realm), attemptOf(known, 1, PAID));
  expect(await parkedAttempts(ledger)).toMatchObject([{ incomplete: true }]);
});

test('what was put back into a store that has another in its place by now stays parked there', async () => {
  const { ledger, known } = await forgotten();
  const other = await sealed(ledger, [{}], { id: 'other' });
  await feedAll(other);
  await sendAs(other, 1, 'P');
  await park(ledger, attemptOf(known, 1, PAID, { nonce: 'one' }));
  const again = await sealed(ledger, [{}, {}, {}], { id: 'forgotten' });
  const restore = await photograph(ledger);
  const scripts = new ScriptClient(bench.redis().client(), 10_000, () => {});
  const script = scripts.script.bind(scripts);
  scripts.script = async (name, ...rest) => {
    // Put back to the moment before the payment was; another process looks, and takes it for kept.
    if (name === 'unpark') await restore();
    return script(name, ...rest);
  };
  await mergeParked({ ...mergeContext(again, 'manual'), ledger: openLedger(scripts, ledger.realm) });
  expect((await readBatch(again.ref))?.counts).toEqual({ planned: 3 });
  expect(await parkedAttempts(ledger)).toMatchObject([{ attempts: [{ intent: { nonce: 'one' } }] }]);
});
