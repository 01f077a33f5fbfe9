import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BatchRef, readBatch, readRequirement } from '../../src/ledger/index.js';
import { cancel, pause, resume } from '../../src/operations/batches/steer.js';
import { Tokens } from '../../src/operations/people/tokens.js';
import {
  endEyes,
  LIMIT,
  PEOPLE,
  ROLES,
  redis,
  type Snapshot,
  startEyes,
  strict,
  Try,
} from '../support/program/four-eyes-tries.js';
import { generated } from '../support/suites.js';

/**
 * Three people who try, in whatever order, to get something paid that only one of them has seen. Everything goes through
 * the operations that command line and desk use; whoever sends does what a worker does and pays whatever the ledger lets
 * out. What is held against it is kept apart and knows nothing of gates: who prepared which batch, who really said go for
 * it and had the role, and what was paid. All that one person got paid without a second stays within what they may alone.
 */
beforeAll(startEyes, 60_000);
afterAll(endEyes);

const PLAYED = generated(8, 25);

const who = fc.constantFrom(...PEOPLE);
const at = fc.nat(9);
const amounts = fc.array(fc.constantFrom(1, 20, 40, 60, 99, 100, 101, 500), { minLength: 1, maxLength: 3 });
const move = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('prepare'), who, amounts, lax: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('approve'), who, at, stale: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('both'), at }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('work'), refuse: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('retry'), who, at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('mend'), who, at, amounts }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('undo'), who, at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('pause', 'resume', 'cancel'), who, at }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('roles'),
      who,
      roles: fc.subarray(['operator', 'approver'] as const, { minLength: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('weaken'), who }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rule'), who, tokens: fc.constantFrom(5, 6) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('schedule'), amount: fc.constantFrom(5, 150) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('keep', 'roll back') }) },
);
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never;

async function make(one: Try, step: Move, dumps: Snapshot[]): Promise<void> {
  const refs = await one.refs();
  const ref = 'at' in step ? refs[step.at % Math.max(1, refs.length)] : undefined;
  if ('at' in step && ref === undefined) return;
  const sealOf = async (of: BatchRef | undefined) => (of && (await readBatch(of))?.sealHash) ?? '';
  if (step.do === 'prepare') return one.prepare(step.who, step.amounts, { lax: step.lax });
  if (step.do === 'work') return one.work(step.refuse);
  if (step.do === 'roles') return one.changeRoles(step.who, step.roles);
  if (step.do === 'weaken') return one.weaken(step.who);
  if (step.do === 'rule') return one.approveRule(step.who, step.tokens);
  if (step.do === 'schedule') return one.scheduled(step.amount);
  if (step.do === 'keep') return void dumps.push(await one.dump());
  if (step.do === 'roll back') {
    const kept = dumps.pop();
    return kept === undefined ? undefined : one.rollBack(kept);
  }
  if (ref === undefined) return;
  if (step.do === 'both') {
    const seal = await sealOf(ref);
    await Promise.allSettled(PEOPLE.map((name) => one.sayGo(name, ref, seal)));
    return;
  }
  if (step.do === 'approve') return one.sayGo(step.who, ref, await sealOf(step.stale === 0 ? refs[0] : ref));
  if (step.do === 'retry') return one.retry(step.who, ref);
  if (step.do === 'mend') return one.prepare(step.who, step.amounts, { lax: false, replaces: `${ref.id}-1` });
  if (step.do === 'undo') return one.undo(step.who, ref);
  if (!('who' in step)) return;
  const by = { who: step.who, why: null };
  if (step.do === 'pause') await pause(one.as(step.who).config, ref, by);
  if (step.do === 'resume') await resume(one.as(step.who), ref, by);
  if (step.do === 'cancel') await cancel(one.as(step.who).config, ref, by);
}

test('however three people go about it, nobody gets more paid alone than they may', async () => {
  let [began, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 8, maxLength: 24 }), async (moves) => {
      await redis.client().flushall();
      const [profile] = strict.config.profiles;
      if (profile === undefined) throw new Error('no realm');
      for (const [name, roles] of Object.entries(ROLES))
        await new Tokens(strict.scripts).add(name, roles, 'x', 1);
      const one = new Try(new Map(Object.entries(ROLES)), strict.ledger(profile));
      const dumps: Snapshot[] = [];
      for (const step of [...moves, { do: 'work', refuse: false } as const]) {
        try {
          await make(one, step, dumps);
        } catch (error) {
          // What is refused in words is what is meant; anything else is a finding.
          if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('ALM_')))
            throw error;
          refused += 1;
        }
      }
      began += [...one.batches.values()].filter((batch) => batch.begun).length;
      if (one.required) expect((await readRequirement(one.ledger)).overTokens).toBe(LIMIT);
    }),
    PLAYED,
  );
  // A model that lets nothing happen would find nothing either.
  expect(began).toBeGreaterThan(0.3 * PLAYED.numRuns);
  expect(refused).toBeGreaterThan(0.5 * PLAYED.numRuns);
}, 600_000);
