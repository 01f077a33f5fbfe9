import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readBatch } from '../../../src/ledger/index.js';
import { decodePlanBlock } from '../../../src/ledger/plan-block.js';
import { storeSource } from '../../../src/ledger/read/batch-source.js';
import { approve, previewApproval } from '../../../src/operations/approvals/approvals.js';
import { Tokens } from '../../../src/operations/people/tokens.js';
import { testBatch } from '../../support/ledger/ledgers-on-redis.js';
import { begin, feedAll, settleAs } from '../../support/ledger/order-moves.js';
import { endEyes, ROLES, redis, startEyes, strict, Try } from '../../support/program/four-eyes-tries.js';

/** Through the operations that command line and desk use; the sender's profile lets one person pay 100 tokens in 24 hours. */
beforeAll(startEyes, 60_000);
afterAll(endEyes);
let one: Try;
beforeEach(async () => {
  await redis.client().flushall();
  const [profile] = strict.config.profiles;
  if (profile === undefined) throw new Error('no realm');
  for (const [name, roles] of Object.entries(ROLES))
    await new Tokens(strict.scripts).add(name, roles, 'x', 1);
  one = new Try(new Map(Object.entries(ROLES)), strict.ledger(profile));
});
/** What a worker with the strict profile pays of the newest batch; those of these indexes are refused. */
async function work(at: number, refused: readonly number[]): Promise<number> {
  const ref = (await one.refs())[at];
  if (ref === undefined) throw new Error('no batch');
  const block = await storeSource(ref).plan(0);
  const batch = testBatch(one.ledger, ref.no, ref.id, block === null ? [] : decodePlanBlock(block));
  await feedAll(batch);
  let paid = 0;
  for (const [i, { order }] of batch.rows.entries()) {
    const nonce = `n${Math.random()}`;
    const begun = await begin(batch, i + 1, { nonce });
    if ('refusal' in begun || order === null) continue;
    const isRefused = refused.includes(i + 1);
    await settleAs(batch, i + 1, isRefused ? 'R' : 'P', begun, { nonce });
    if (!isRefused) paid += order.tokens;
  }
  return paid;
}

test('ada alone, by a retry with a configuration of her own', async () => {
  let paid = 0;
  for (let i = 0; i < 4; i++) {
    await one.prepare('ada', [90, 1], { lax: false });
    paid += await work(i, [2]);
    const ref = (await one.refs())[i];
    if (ref === undefined) throw new Error('no batch');
    await one.retry('ada', ref, 1, true);
    await work(i, [2]);
  }
  expect(paid).toBeLessThanOrEqual(100);
});

test('what ben is shown and types the total of, is what is paid', async () => {
  // Prepared and sent with a lax configuration, of which the first order died.
  await one.prepare('ada', [5000, 101], { lax: true });
  const [ref] = await one.refs();
  if (ref === undefined) throw new Error('no batch');
  const lax = {
    ...one.ledger,
    mark: { ...one.ledger.mark },
    asked: { ...one.ledger.asked, requirement: { overTokens: null, overRows: null } },
    batchers: new Map(),
  };
  const block = await storeSource(ref).plan(0);
  const batch = testBatch(lax, ref.no, ref.id, block === null ? [] : decodePlanBlock(block));
  await feedAll(batch);
  const begun = await begin(batch, 1, { nonce: 'x' });
  if ('refusal' in begun) throw new Error(begun.refusal);
  await settleAs(batch, 1, 'R', begun, { nonce: 'x' });
  // The strict worker meets the rest.
  expect(await work(0, [])).toBe(0);
  expect((await readBatch(ref))?.gate).toMatchObject({ closed: 'approval' });
  const shown = await previewApproval(strict, ref);
  expect([shown.orders, shown.tokens]).toEqual([1, 101n]);
  // Ben looks at it and types 101. Meanwhile:
  await one.retry('ada', ref, 0, true);
  // Refused is right, too.
  await approve(one.as('ben'), ref, shown.hash).catch(() => null);
  expect(await work(0, [])).toBeLessThanOrEqual(101);
});
