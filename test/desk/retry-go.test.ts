import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { keepRequirement } from '../../src/ledger/index.js';
import { retryOrder } from '../../src/ledger/moves/retry.js';
import { sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { feedAll, sendAs } from '../support/ledger/order-moves.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { type PickyRealm, startPickyRealm } from '../support/program/picky-realm.js';
import { until } from '../support/until.js';

/** The dead letters of a batch that was done before a second person was required: what is to be approved is their retry. */
let realm: PickyRealm;
let desk: TestDesk;
let batch: TestBatch;
const tokens = new Map<string, string>();

beforeAll(async () => {
  realm = await startPickyRealm();
  desk = await startDesk({ env: realm.env });
  for (const name of ['ada', 'ben'])
    tokens.set(name, await desk.server.desk.tokens.add(name, ['approver'], 'tester', Date.now()));
  const [profile] = desk.app.config.profiles;
  if (profile === undefined) throw new Error('no realm is configured');
  const ledger = desk.app.ledger(profile);
  batch = await sealed(ledger, [{ tokens: 500 }, { tokens: 70 }, { tokens: 9 }]);
  await feedAll(batch);
  await sendAs(batch, 1, 'P');
  await sendAs(batch, 2, 'R');
  await sendAs(batch, 3, 'R');
  await keepRequirement(ledger, { overTokens: 0, overRows: null });
}, 60_000);
afterAll(async () => {
  await desk.close();
  await realm.close();
});

const retried = (nonce: string) =>
  retryOrder(batch.ref, 2, batch.row(2), { who: 'ada', why: 'mended', at: 1, nonce });
const path = () => `/api/approvals/${batch.ref.id}`;
const waiting = async () =>
  z.object({ batches: z.array(z.unknown()) }).parse((await desk.call('/api/approvals', as('ben'))).json())
    .batches;
const as = (name: string) => ({ as: tokens.get(name) ?? '' });
const shown = z.object({ seal: z.string() });

async function say(name: string, total: string) {
  const { seal } = shown.parse((await desk.call(path(), as(name))).json());
  return desk.call(path(), { ...as(name), method: 'POST', body: { seal, tokens: total } });
}

test('it waits on the desk once a retry was refused, for what it is, and its total is asked for', async () => {
  expect(await waiting()).toEqual([]);
  expect(await retried('one')).not.toBe('ok');
  // What is shown to many is looked up now and then.
  await until('it to wait', async () => (await waiting()).length === 1, 10_000);
  expect(await waiting()).toMatchObject([{ batch: batch.ref.id, retry: true, orders: 2, preparer: null }]);
  expect((await desk.call(path(), as('ben'))).json()).toMatchObject({
    retry: true,
    payable: { orders: 2, tokens: '79', amounts: null },
    gate: { closed: 'approval', mayApprove: ['ada', 'ben'] },
  });
  expect((await say('ada', '579')).json()).toMatchObject({ error: { code: 'ALM_DESK_CHANGED' } });
  expect((await say('ada', '79')).json()).toMatchObject({ approved: false });
  expect((await desk.call(path(), as('ben'))).json()).toMatchObject({
    onGo: 'Your go is for exactly this. For three days its 2 dead letters may be retried; nothing is sent before somebody does.',
  });
  const refuse = { ...as('ben'), method: 'POST', body: { reason: 'no' } };
  expect((await desk.call(`${path()}/refuse`, refuse)).json()).toMatchObject({
    error: { code: 'ALM_BATCH_CANNOT' },
  });
  expect((await say('ben', '79')).json()).toMatchObject({ approved: true });
  await until('nothing to wait', async () => (await waiting()).length === 0, 10_000);
  expect(await retried('two')).toBe('ok');
});
