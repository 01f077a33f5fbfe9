import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { registerRealm } from '../../src/ledger/index.js';
import { requestRetry } from '../../src/ledger/moves/approvals.js';
import { discardOrder } from '../../src/ledger/moves/retry.js';
import { retriesOf } from '../../src/operations/dead/retries.js';
import { feed } from '../support/ledger/feed-one.js';
import { limitedTo, sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { sendAs } from '../support/ledger/order-moves.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { type PickyRealm, startPickyRealm } from '../support/program/picky-realm.js';
import { requireApproval } from '../support/program/require-approval.js';

/** The rest of a batch waits for an approval, and so does a retry that was asked for other dead letters than there are now. */
let realm: PickyRealm;
let desk: TestDesk;
let batch: TestBatch;
const tokens = new Map<string, string>();
const LIMITS = { overTokens: 50, overRows: null };

beforeAll(async () => {
  realm = await startPickyRealm();
  desk = await startDesk({ env: realm.env });
  for (const name of ['ada', 'ben'])
    tokens.set(name, await desk.server.desk.tokens.add(name, ['operator', 'approver'], 'tester', Date.now()));
  const [profile] = desk.app.config.profiles;
  if (profile === undefined) throw new Error('no realm is configured');
  const ledger = desk.app.ledger(profile);
  await registerRealm(ledger);
  batch = await sealed(ledger, [{ tokens: 500 }, { tokens: 70 }, { tokens: 101 }], {
    prepared: { who: 'ada' },
  });
  await feed(ledger, batch.no, 2, '');
  for (const index of [1, 2]) await sendAs(batch, index, 'R');
  await requireApproval(desk.app);
  const { tokens: sum, hash } = await retriesOf(batch.ref, [1, 2]);
  const wanted = { who: 'ada', hash, why: null, limits: LIMITS, tokens: sum, indexes: [1, 2] };
  expect((await requestRetry(batch.ref, wanted)).answer).toBe('asked');
  expect(await discardOrder(batch.ref, 1, { who: 'ada', why: 'wrong', at: 1 })).toBe('ok');
  // A sender with limits.
  expect(await feed(limitedTo(ledger, LIMITS), batch.no, 9, '')).toEqual([]);
}, 60_000);
afterAll(async () => {
  await desk.close();
  await realm.close();
});

const path = () => `/api/approvals/${batch.ref.id}`;
const as = (name: string) => ({ as: tokens.get(name) ?? '' });
const page = z.object({ hash: z.string(), payable: z.object({ orders: z.number(), tokens: z.string() }) });

test('the list names what an approval would be for', async () => {
  const [waiting] = z
    .object({ batches: z.array(z.object({ retry: z.boolean(), orders: z.number(), tokens: z.string() })) })
    .parse((await desk.call('/api/approvals', as('ben'))).json()).batches;
  const { payable } = page.parse((await desk.call(path(), as('ben'))).json());
  expect(payable).toMatchObject({ orders: 1, tokens: '101' });
  expect(waiting).toMatchObject({ retry: false, orders: 1, tokens: '101' });
});

test('the rest is approved on the desk with the total that its page shows', async () => {
  const { hash, payable } = page.parse((await desk.call(path(), as('ben'))).json());
  const answer = await desk.call(path(), {
    ...as('ben'),
    method: 'POST',
    body: { hash, tokens: payable.tokens },
  });
  expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
});
