import fc from 'fast-check';
import { expect, test } from 'vitest';
import { membersOf } from '../../../src/core/order.js';
import { type Begun, claim } from '../../../src/ledger/moves/begin-sending.js';
import { dispatched, redispatch } from '../../../src/ledger/moves/feed.js';
import { orphan } from '../../../src/ledger/moves/orphan.js';
import { discardOrder, retryOrder } from '../../../src/ledger/moves/retry.js';
import { cancelBatch, pauseBatch, resumeBatch } from '../../../src/ledger/moves/steer.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { feed } from '../../support/ledger/feed-one.js';
import {
  type Line,
  ledgersOnRedis,
  START,
  sealed,
  type TestBatch,
} from '../../support/ledger/ledgers-on-redis.js';
import type { SettledCode } from '../../support/ledger/order-moves.js';
import { audit, begin, concludeAs, moment, settleAs, WHY } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';
import { generated } from '../../support/suites.js';

/**
 * Plays random moves in any order, repeated, late or by the wrong process. After every step each order is in exactly
 * one state and all counts agree. At the end nothing is held or lost.
 */
const bench = ledgersOnRedis();

const FIRST: Line[] = [
  { member: '1', reference: 'rule:thanks:2026-W09:1', tokens: 7 },
  { member: '1', to: '2', tokens: 11 },
  { invalid: true },
  { member: '2', op: 'debit', reference: 'rule:thanks:2026-W09:2', tokens: 13 },
  { member: '2', to: '1', reference: 'c', tokens: 17 },
  { member: '3', tokens: 19, duplicateOf: 'elsewhere-1' },
];
const SECOND: Line[] = [
  { member: '2', tokens: 23 },
  { member: '1', reference: 'rule:thanks:2026-W09:3', tokens: 29 },
  { member: '3', to: '2', tokens: 31 },
];
const ORDERS: readonly (readonly [batch: number, index: number])[] = [
  [0, 1],
  [0, 2],
  [0, 4],
  [0, 5],
  [1, 1],
  [1, 2],
  [1, 3],
];

const SETTLED = ['P', 'R', 'X', 'w', 'u', 'D'] as const satisfies readonly SettledCode[];
const place = fc.constantFrom(...ORDERS);
const which = fc.nat({ max: 1 });
const twice = fc.boolean();
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ move: fc.constant('feed' as const), which, most: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ move: fc.constant('begin' as const), place, twice, resend: fc.boolean() }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      move: fc.constant('settle' as const),
      place,
      twice,
      code: fc.constantFrom(...SETTLED),
      stale: fc.nat({ max: 9 }).map((n) => n === 0),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      move: fc.constant('orphan' as const),
      place,
      twice,
      toDoubt: fc.boolean(),
      stranger: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      move: fc.constant('conclude' as const),
      place,
      twice,
      from: fc.constantFrom('u' as const, 'D' as const),
      to: fc.constantFrom('P' as const, 'X' as const, 'w' as const, 'D' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ move: fc.constant('retry' as const), place, twice }) },
  { weight: 1, arbitrary: fc.record({ move: fc.constant('discard' as const), place, twice }) },
  { weight: 1, arbitrary: fc.record({ move: fc.constant('pause' as const), which, twice }) },
  {
    weight: 2,
    arbitrary: fc.record({
      move: fc.constant('resume' as const),
      which,
      twice,
      first: fc.option(fc.integer({ min: 1, max: 2 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ move: fc.constant('cancel' as const), which: fc.constant(1), twice }) },
  { weight: 1, arbitrary: fc.record({ move: fc.constant('redispatch' as const), which }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class World {
  /** The attempts that were begun, by order, as a sender remembers them. */
  readonly attempts = new Map<string, { nonce: string; begun: Begun }>();
  private nonces = 0;

  constructor(
    readonly ledger: RealmLedger,
    readonly batches: readonly TestBatch[],
    readonly readback: boolean,
  ) {}

  batch(which: number): TestBatch {
    const batch = this.batches[which];
    if (batch === undefined) throw new Error('no such batch');
    return batch;
  }

  /** The call of a step. Calling it again repeats the same call after a lost reply. */
  async call(step: Step): Promise<() => Promise<unknown>> {
    if (!('place' in step)) return this.steering(step);
    const [which, index] = step.place;
    const batch = this.batch(which);
    const ref = { no: batch.no, index };
    const key = `${which}:${index}`;
    const attempt = this.attempts.get(key);
    switch (step.move) {
      case 'begin': {
        const hold = this.readback
          ? await claim(this.ledger, ref, '', membersOf(batch.row(index).order))
          : null;
        if (hold !== null && 'refusal' in hold) return () => Promise.resolve();
        this.nonces += 1;
        const nonce = `n${this.nonces}`;
        const sentAt = START + (this.nonces % 2) * 86_400_000;
        const options = { nonce, sentAt, mayResend: step.resend && !this.readback, hold: hold?.hold ?? '' };
        return async () => {
          const begun = await begin(batch, index, options);
          if (!('refusal' in begun)) this.attempts.set(key, { nonce, begun });
        };
      }
      case 'settle':
        if (attempt === undefined) return () => Promise.resolve();
        return () =>
          settleAs(batch, index, step.code, attempt.begun, { nonce: step.stale ? 'stale' : attempt.nonce });
      case 'orphan': {
        const detail = {
          event: 'orphaned',
          at: moment(),
          key: 'k',
          session: 'worker',
          code: 'c',
          message: 'died',
        } as const;
        const session = step.stranger ? 'stranger' : 'worker';
        const nonce = `o${moment()}`;
        const row = batch.row(index);
        const to = step.toDoubt ? 'D' : 'u';
        return async () => {
          const attempt = (await readRecord(batch.ref, index)).nonce ?? '';
          return orphan(this.ledger, ref, { session, row, attempt }, { detail, to, nonce });
        };
      }
      case 'conclude': {
        const nonce = `c${moment()}`;
        return () => concludeAs(batch, index, step.from, step.to, { nonce, tries: 1 });
      }
      case 'retry': {
        const by = { who: 'ada', why: null, at: START, nonce: `r${moment()}` };
        return () => retryOrder(batch.ref, index, batch.row(index), by);
      }
      case 'discard':
        return () => discardOrder(batch.ref, index, { who: 'ada', why: 'enough', at: START });
    }
  }

  private steering(step: Exclude<Step, { place: unknown }>): () => Promise<unknown> {
    const batch = this.batch(step.which);
    const note = audit(step.move);
    switch (step.move) {
      case 'feed':
        return () => feed(this.ledger, batch.no, step.most, '');
      case 'redispatch':
        return async () => {
          const open = await dispatched(this.ledger, batch.no);
          return redispatch(
            this.ledger,
            batch.no,
            '',
            open.map(({ index }) => index),
          );
        };
      case 'pause':
        return () => pauseBatch(batch.ref, WHY, note);
      case 'resume': {
        const first = step.first === null ? {} : { first: { orders: step.first, reason: WHY } };
        return () => resumeBatch(batch.ref, note, { owner: '', ...first });
      }
      case 'cancel':
        return () => cancelBatch(batch.ref, note);
    }
  }

  /** Everything that decides about payments, as text. */
  async truth(): Promise<string> {
    const { redis } = this.ledger.scripts;
    const { keyPrefix } = this.ledger;
    const parts = await Promise.all([
      redis.hgetall(`${keyPrefix}:days`),
      redis.hgetall(`${keyPrefix}:held`),
      ...this.batches.flatMap(({ no }) => [
        redis.hgetall(`${keyPrefix}:b:${no}:o:0`),
        redis.hgetall(`${keyPrefix}:b:${no}:n`),
        redis.hmget(`${keyPrefix}:b:${no}`, 'state', 'requests', 'limit', 'cursor'),
        redis.zrange(`${keyPrefix}:b:${no}:due`, 0, '-1'),
        redis.lrange(`${keyPrefix}:b:${no}:log`, 0, -1),
      ]),
    ]);
    return JSON.stringify(parts);
  }

  /** All processes continue until nothing is left. Returns the number of rounds. */
  async drain(): Promise<number> {
    for (let round = 1; round < 60; round++) {
      let left = 0;
      for (const [which, batch] of this.batches.entries()) {
        await resumeBatch(batch.ref, audit('resumed'), { owner: '' });
        await feed(this.ledger, batch.no, 100, '');
        for (const [of, index] of ORDERS) {
          if (of !== which) continue;
          const { code, nonce, sentAt } = await readRecord(batch.ref, index);
          const begun = this.attempts.get(`${which}:${index}`)?.begun;
          if (code === 's' && nonce !== null && begun !== undefined)
            await settleAs(batch, index, 'P', begun, { nonce, sentAt: sentAt ?? START });
          else if (code === 'u') await concludeAs(batch, index, 'u', 'P');
          else if (code === 'p' || code === 'w')
            await (await this.call({ move: 'begin', place: [which, index], twice: false, resend: false }))();
        }
        const counts = await this.ledger.scripts.redis.hmget(
          `${this.ledger.keyPrefix}:b:${batch.no}:n`,
          'c:p',
          'c:s',
          'c:u',
        );
        left += counts.reduce((sum, count) => sum + Number(count ?? 0), 0);
      }
      if (left === 0) return round;
    }
    return Number.POSITIVE_INFINITY;
  }
}

test('after any sequence of moves, including repeated and late ones, the ledger agrees and nothing is lost', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 45 }),
      fc.boolean(),
      async (steps, readback) => {
        const ledger = await bench.ledger();
        const world = new World(
          ledger,
          [await sealed(ledger, FIRST), await sealed(ledger, SECOND)],
          readback,
        );
        for (const step of steps) {
          const call = await world.call(step);
          await call();
          if ('twice' in step && step.twice) {
            const before = await world.truth();
            await call();
            expect(await world.truth(), `${step.move} repeated`).toBe(before);
          }
          expect(await tieUp(ledger), JSON.stringify(step)).toEqual([]);
        }
        expect(await world.drain()).toBeLessThan(60);
        expect(await tieUp(ledger)).toEqual([]);
        const { redis } = ledger.scripts;
        expect(await redis.exists(`${ledger.keyPrefix}:holders`)).toBe(0);
        redis.disconnect();
      },
    ),
    generated(25, 60),
  );
});
