import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BatchRef } from '../../src/ledger/index.js';
import { cancel, pause, resume } from '../../src/operations/batches/steer.js';
import { Tokens } from '../../src/operations/people/tokens.js';
import { endEyes, PEOPLE, ROLES, redis, startEyes, strict, Try } from '../support/program/four-eyes-tries.js';
import { generated } from '../support/suites.js';

/**
 * Three people try, in any order, to get something paid that only one of them has seen: files, retries of dead letters,
 * rules with a swapped list, set times. All of it uses the operations of the command line and the desk; sending works
 * like a worker and pays what the ledger releases. The test keeps its own record of who prepared, retried and approved
 * what in which role, and of what was paid. Each person’s unapproved payments must stay within what one person may pay
 * alone.
 */
beforeAll(startEyes, 60_000);
afterAll(endEyes);

const PLAYED = generated(8, 50);
const HOUR_MS = 3_600_000;

const who = fc.constantFrom(...PEOPLE);
const at = fc.nat(9);
const amounts = fc.array(fc.constantFrom(1, 20, 40, 60, 99, 100, 101, 500), { minLength: 1, maxLength: 3 });
const startsIn = fc.constantFrom(null, null, null, HOUR_MS / 2, 30 * HOUR_MS);
const refuse = fc.constantFrom('none' as const, 'none' as const, 'all' as const, 'every second' as const);
const move = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('prepare'), who, amounts, lax: fc.boolean(), startsIn }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('look'), at }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('approve'), who, at, stale: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('all approve'), at }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('work'), refuse }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('retry'),
      who,
      at,
      only: fc.constantFrom(null, 0, 1),
      isLax: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('mend'), who, at, amounts }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('undo'), who, at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('pause', 'resume', 'begin', 'cancel'), who, at }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('roles'),
      who,
      roles: fc.subarray(['operator', 'approver'] as const, { minLength: 1 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('rule'),
      who,
      tokens: fc.constantFrom(5, 6),
      members: fc.constantFrom(1, 2),
      swapped: fc.boolean(),
      isLax: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('schedule'),
      amount: fc.constantFrom(5, 150),
      swapped: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('time passes') }) },
);
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never;

/** `seen`: hashes of what people looked at before. */
async function make(one: Try, step: Move, seen: string[]): Promise<void> {
  const refs = await one.refs();
  const ref = 'at' in step ? refs[step.at % Math.max(1, refs.length)] : undefined;
  if ('at' in step && ref === undefined) return;
  if (step.do === 'prepare') {
    const startsAt = step.startsIn === null ? null : Date.now() + step.startsIn;
    return one.prepare(step.who, step.amounts, { lax: step.lax, startsAt });
  }
  if (step.do === 'work') return one.work(step.refuse);
  if (step.do === 'roles') return one.changeRoles(step.who, step.roles);
  if (step.do === 'rule') return one.approveRule(step.who, step);
  if (step.do === 'schedule') return one.scheduled(step.amount, step.swapped);
  if (step.do === 'time passes') return one.passTime();
  if (ref === undefined) return;
  if (step.do === 'look') return void seen.push((await one.look(ref)) ?? '');
  if (step.do === 'all approve') return allApprove(one, ref);
  if (step.do === 'approve') {
    const hash = step.stale === 0 ? seen.at(-1) : await one.look(ref);
    return one.approve(step.who, ref, hash ?? '');
  }
  if (step.do === 'retry') return one.retry(step.who, ref, step.only, step.isLax);
  if (step.do === 'mend') return one.prepare(step.who, step.amounts, { lax: false, replaces: `${ref.id}-1` });
  if (step.do === 'undo') return one.undo(step.who, ref);
  if (!('who' in step)) return;
  const by = { who: step.who, why: null };
  if (step.do === 'pause') await pause(one.as(step.who).config, ref, by);
  if (step.do === 'resume') await resume(one.as(step.who), ref, by);
  if (step.do === 'begin') await resume(one.as(step.who), ref, by, { now: true });
  if (step.do === 'cancel') await cancel(one.as(step.who).config, ref, by);
}

async function allApprove(one: Try, ref: BatchRef): Promise<void> {
  const hash = (await one.look(ref)) ?? '';
  await Promise.allSettled(PEOPLE.map((name) => one.approve(name, ref, hash)));
}

test('in any order of steps, no person gets more paid alone than they may', async () => {
  let [began, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 10, maxLength: 30 }), async (moves) => {
      await redis.client().flushall();
      const [profile] = strict.config.profiles;
      if (profile === undefined) throw new Error('no realm');
      for (const [name, roles] of Object.entries(ROLES))
        await new Tokens(strict.scripts).add(name, roles, 'x', 1);
      const one = new Try(new Map(Object.entries(ROLES)), strict.ledger(profile));
      const seen: string[] = [];
      for (const step of [...moves, { do: 'work', refuse: 'none' } as const]) {
        try {
          await make(one, step, seen);
        } catch (error) {
          // What is refused in words is what is meant; anything else is a finding.
          if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('ALM_')))
            throw error;
          refused += 1;
        }
      }
      began += one.begun;
    }),
    PLAYED,
  );
  // A model that lets nothing happen would find nothing either.
  expect(began).toBeGreaterThan(0.3 * PLAYED.numRuns);
  expect(refused).toBeGreaterThan(0.5 * PLAYED.numRuns);
}, 600_000);
