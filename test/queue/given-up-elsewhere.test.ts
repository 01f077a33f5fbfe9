import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { retryOrder } from '../../src/ledger/moves/retry.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { listSessions } from '../../src/ledger/read/session-list.js';
import { openLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { acceptMissing } from '../../src/ledger/sessions/accept-missing.js';
import { mergeContext } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

/**
 * A decision to give a session up holds only in the store in which it was made, and covers all orders it may concern.
 */
const bench = ledgersOnRedis();
const by = { who: 'ada', at: 1 };

test('a store restored while a session is given up keeps it registered, and the command says so', async () => {
  const batch = await sealed(await bench.ledger(), [{}, {}, {}]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const one = await machines.start(await tempFolder());
  expect(await one.sender.recover()).toBe(true);
  const burnt = await tempFolder();
  const two = await machines.start(burnt);
  expect(await two.sender.recover()).toBe(true);
  const lost = two.ledger.mark.session;
  const restore = await photograph(batch.ledger);
  await two.sender.begin(1);
  await two.sender.die();
  await rm(burnt, { recursive: true });
  const scripts = new ScriptClient(bench.redis().client(), 10_000, () => {});
  const script = scripts.script.bind(scripts);
  let restored = false;
  scripts.script = async (name, ...rest) => {
    const reply = await script(name, ...rest);
    if (name !== 'accept-lost' || restored) return reply;
    restored = true;
    await restore();
    return reply;
  };
  const person = { ...mergeContext(batch, 'manual'), ledger: openLedger(scripts, batch.ledger.realm) };
  await expect(acceptMissing(person, lost, by)).rejects.toMatchObject({
    code: 'ALM_LEDGER_SESSION',
    next: expect.stringContaining('again'),
  });
  expect((await listSessions(batch.ledger)).map(({ id }) => id)).toContain(lost);
  for (let look = 0; look < 3; look++) expect(await one.sender.recover()).toBe(false);
  await one.sender.begin(1);
  expect((await readRecord(batch.ref, 1)).code).not.toBe('s');
  await one.sender.die();
});

test('a dead letter that may have been retried and paid in the lost time becomes a doubt, and is not retried', async () => {
  const batch = await sealed(await bench.ledger(), [{ reference: 'r-1' }, {}]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const one = await machines.start(await tempFolder());
  expect(await one.sender.recover()).toBe(true);
  const two = await machines.start(await tempFolder());
  expect(await two.sender.recover()).toBe(true);
  await two.sender.begin(1);
  await two.sender.finish('refused');
  const restore = await photograph(batch.ledger);
  const retry = (nonce: string) =>
    retryOrder(batch.ref, 1, batch.row(1), { who: 'ada', why: null, at: Date.now(), nonce });
  expect(await retry('first')).toBe('ok');
  await two.sender.begin(1);
  await two.sender.finish('paid');
  await restore();
  expect(await acceptMissing(mergeContext(batch, 'manual'), two.ledger.mark.session, by)).toMatchObject({
    exact: false,
    orders: 2,
  });
  for (let look = 0; look < 3; look++) await one.sender.recover();
  expect((await readRecord(batch.ref, 1)).code).toBe('D');
  expect(await retry('second')).toMatchObject({ why: expect.stringContaining('in doubt') });
  expect(machines.realm.applied.get(1)).toBe(1);
  expect(await tieUp(batch.ledger)).toEqual([]);
  for (const { sender } of [one, two]) await sender.die();
});
