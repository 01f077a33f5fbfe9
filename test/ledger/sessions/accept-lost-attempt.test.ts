import { expect, test } from 'vitest';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { readDetails, readRecord } from '../../../src/ledger/read/rows.js';
import { openLedger } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { acceptMissing } from '../../../src/ledger/sessions/accept-missing.js';
import { Session } from '../../../src/ledger/sessions/session.js';
import { mergeContext } from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { begun, feedAll, sendAs, settleAs } from '../../support/ledger/order-moves.js';
import { tempFolder } from '../../support/temp-folder.js';

/**
 * An operator gives a session up. Between the list of its orders and the script that gives it up, something happens.
 */
const bench = ledgersOnRedis();

async function givenUp(meanwhile: (world: Awaited<ReturnType<typeof sending>>) => Promise<unknown>) {
  const world = await sending();
  const { batch, lost } = world;
  const scripts = new ScriptClient(bench.redis().client(), 10_000, () => {});
  const script = scripts.script.bind(scripts);
  let happened = false;
  scripts.script = async (name, ...rest) => {
    if (name === 'accept-lost' && !happened) {
      happened = true;
      await meanwhile(world);
    }
    return script(name, ...rest);
  };
  const ledger = openLedger(scripts, batch.ledger.realm);
  const context = { ...mergeContext(batch, 'manual'), ledger };
  const loss = await acceptMissing(context, lost.id, { who: 'ada', at: 5 });
  await lost.close();
  return { batch, loss, record: await readRecord(batch.ref, 1) };
}

async function sending() {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{ tokens: 7 }, {}]);
  await feedAll(batch);
  await sendAs(batch, 2, 'P');
  const lost = await Session.open('worker', await tempFolder());
  await lost.register(ledger);
  return { batch, lost, one: await begun(batch, 1, { session: lost.id, nonce: 'one' }) };
}

test('an order paid meanwhile is neither unknown nor counted', async () => {
  const { loss, record } = await givenUp(({ batch, one }) => settleAs(batch, 1, 'P', one, { nonce: 'one' }));
  expect(record.code).toBe('P');
  expect(loss).toEqual({ exact: true, orders: 0, tokens: 0n });
});

test('the history names the given-up attempt, even if another one was begun meanwhile', async () => {
  const { batch, record } = await givenUp(async ({ batch, lost, one }) => {
    await settleAs(batch, 1, 'R', one, { nonce: 'one' });
    const by = { who: 'ada', why: null, at: 1, nonce: 'x' };
    expect(await retryOrder(batch.ref, 1, batch.row(1), by)).toBe('ok');
    await begun(batch, 1, { session: lost.id, nonce: 'two' });
  });
  expect(record).toMatchObject({ code: 'D', nonce: 'two', keyNumber: 2 });
  const orphaned = (await readDetails(batch.ref, 1)).findLast(({ event }) => event === 'orphaned');
  expect(orphaned).toMatchObject({ attempt: 'two' });
});
