import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { registerRealm } from '../../src/ledger/index.js';
import { sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { feedAll, sendAs } from '../support/ledger/order-moves.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { type PickyRealm, startPickyRealm } from '../support/program/picky-realm.js';
import { requireApproval } from '../support/program/require-approval.js';
import { until } from '../support/until.js';

/** Dead letters of a batch that no second person has seen: a retry of exactly those is asked for, approved and used. */
let realm: PickyRealm;
let desk: TestDesk;
let batch: TestBatch;
const tokens = new Map<string, string>();

beforeAll(async () => {
  realm = await startPickyRealm();
  desk = await startDesk({ env: realm.env });
  for (const name of ['ada', 'ben'])
    tokens.set(name, await desk.server.desk.tokens.add(name, ['operator', 'approver'], 'tester', Date.now()));
  const [profile] = desk.app.config.profiles;
  if (profile === undefined) throw new Error('no realm is configured');
  const ledger = desk.app.ledger(profile);
  await registerRealm(ledger);
  batch = await sealed(ledger, [{ tokens: 500 }, { tokens: 70 }, { tokens: 9 }]);
  await feedAll(batch);
  await sendAs(batch, 1, 'P');
  await sendAs(batch, 2, 'R');
  await sendAs(batch, 3, 'R');
  await requireApproval(desk.app);
}, 60_000);
afterAll(async () => {
  await desk.close();
  await realm.close();
});

const path = () => `/api/approvals/${batch.ref.id}`;
const as = (name: string) => ({ as: tokens.get(name) ?? '' });
const waiting = async () =>
  z.object({ batches: z.array(z.unknown()) }).parse((await desk.call('/api/approvals', as('ben'))).json())
    .batches;
const shown = z.object({ hash: z.string() });

/** The retry as the desk starts it, once it has ended. */
async function retry(name: string, ...indexes: readonly number[]) {
  const orders = indexes.map((index) => `${batch.ref.id}-${index}`);
  const sum = indexes.reduce((all, index) => all + batch.row(index).order.tokens, 0);
  const body = { orders, expect: orders.length, tokens: String(sum) };
  const started = await desk.call('/api/dead/retry', { ...as(name), method: 'POST', body });
  expect([started.status, started.text]).toEqual([200, expect.anything()]);
  const { task } = z.object({ task: z.string() }).parse(started.json());
  return until('the retry to end', async () => {
    const now = (await desk.call(`/api/tasks/${task}`, as(name))).json();
    const { state } = z.object({ state: z.string() }).parse(now);
    return state === 'running' ? undefined : now;
  });
}

async function say(name: string, total: string, hash?: string) {
  const seen = shown.parse((await desk.call(path(), as(name))).json());
  return desk.call(path(), { ...as(name), method: 'POST', body: { hash: hash ?? seen.hash, tokens: total } });
}

test('it waits on the desk once it was asked for, is shown letter by letter, and approved with its total', async () => {
  expect(await waiting()).toEqual([]);
  expect(JSON.stringify(await retry('ada', 2))).toContain('needs an approval');
  // What is shown to many is looked up now and then.
  await until('it to wait', async () => (await waiting()).length === 1, 10_000);
  expect(await waiting()).toMatchObject([
    { batch: batch.ref.id, retry: true, orders: 1, tokens: '70', preparer: 'ada' },
  ]);
  expect((await desk.call(path(), as('ben'))).json()).toMatchObject({
    retry: [{ order: `${batch.ref.id}-2`, tokens: 70, state: 'refused', attempts: 1 }],
    isOutdated: false,
    payable: { orders: 1, tokens: '70', amounts: null },
    gate: { closed: 'approval', mayApprove: ['ben'] },
    after:
      'Your approval is for exactly this, and is used once. Within three days this dead letter may be retried once, in their present state; nothing is sent before a person retries them.',
  });
  expect((await say('ben', '579')).json()).toMatchObject({ error: { code: 'ALM_DESK_CHANGED' } });
  expect((await say('ben', '70', 'f'.repeat(64))).json()).toMatchObject({
    error: { code: 'ALM_PEOPLE_CHANGED' },
  });
  expect((await say('ada', '70')).json()).toMatchObject({ error: { code: 'ALM_PEOPLE_SAME' } });
  expect((await say('ben', '70')).status).toBe(200);
  await until('nothing to wait', async () => (await waiting()).length === 0, 10_000);
  // The approval was for one dead letter, and is no other's.
  expect(JSON.stringify(await retry('ada', 3))).toContain('needs an approval');
  expect(JSON.stringify(await retry('ada', 2))).not.toContain('needs an approval');
});

test('refused, the dead letters stay dead', async () => {
  await until('it to wait', async () => (await waiting()).length === 1, 10_000);
  const { hash } = shown.parse((await desk.call(path(), as('ben'))).json());
  const refuse = { ...as('ben'), method: 'POST', body: { hash, reason: 'no' } };
  expect((await desk.call(`${path()}/refuse`, refuse)).status).toBe(200);
  await until('nothing to wait', async () => (await waiting()).length === 0, 10_000);
  expect((await desk.call(`/api/batches/${batch.ref.id}`, as('ben'))).json()).toMatchObject({
    summary: { counts: { refused: 1 } },
  });
});
