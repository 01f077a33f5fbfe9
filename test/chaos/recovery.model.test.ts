import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FAIL_POINTS, type FailPoint } from '../../src/core/fail-point.js';
import type { Certainty } from '../../src/core/profile.js';
import { openBooks } from '../../src/ledger/books.js';
import { Caller } from '../../src/ledger/caller.js';
import { readRecord } from '../../src/ledger/rows.js';
import { ledgerBench, sealed } from '../support/ledger.js';
import { FATES, type Fate, Lossy, photograph, Realm, Sender } from '../support/little-world.js';
import { feedAll } from '../support/order-moves.js';
import { tempFolder } from '../support/temp-folder.js';
import { tieUp } from '../support/tie-up.js';

/**
 * Any history of sends, lost answers, lost replies of the store, deaths between any two steps and rollbacks of the store to any earlier
 * moment ends, once the faults end, with nobody paid twice and nothing called what it is not.
 */
const bench = ledgerBench();
const ORDERS = 5;
const SENDERS = 3;

type Step =
  | {
      readonly do: 'begin';
      readonly sender: number;
      readonly index: number;
      readonly crashAt: FailPoint | null;
    }
  | {
      readonly do: 'finish';
      readonly sender: number;
      readonly fate: Fate;
      readonly crashAt: FailPoint | null;
    }
  | { readonly do: 'recover'; readonly sender: number }
  /** The replies to the next scripts are lost; each is asked again. */
  | { readonly do: 'lose'; readonly replies: number }
  | { readonly do: 'photograph' }
  | { readonly do: 'roll back'; readonly to: number };

const sender = fc.nat({ max: SENDERS - 1 });
const crashAt = fc.option(fc.constantFrom(...FAIL_POINTS), { freq: 5, nil: null });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('begin' as const),
      sender,
      index: fc.integer({ min: 1, max: ORDERS }),
      crashAt,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('finish' as const),
      sender,
      fate: fc.constantFrom(...FATES, 'paid' as const),
      crashAt,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('recover' as const), sender }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('lose' as const), replies: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('photograph' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('roll back' as const), to: fc.nat({ max: 20 }) }) },
);

async function play(certainty: Certainty, steps: readonly Step[]): Promise<void> {
  const senders: Sender[] = [];
  try {
    await history(certainty, steps, senders);
  } finally {
    for (const one of senders) if (one.alive) await one.die();
  }
}

async function history(certainty: Certainty, steps: readonly Step[], senders: Sender[]): Promise<void> {
  const folder = await tempFolder();
  const owner = await bench.books();
  const batch = await sealed(
    owner,
    Array.from({ length: ORDERS }, (_, i) => ({ reference: `r-${i}` })),
  );
  await feedAll(batch);
  const realm = new Realm(certainty === 'idempotent');
  const lossy = new Lossy(owner.caller.redis);
  const caller = new Caller(lossy.redis, 10_000, () => {});
  const start = () => Sender.start(openBooks(caller, owner.owner), batch, certainty, folder);
  for (let i = 0; i < SENDERS; i++) senders.push(await start());
  for (const one of senders) await one.recover();
  const photographs = [await photograph(owner)];
  // Orders whose outcome somebody could not know: only these may end in doubt.
  const ambiguous = new Set<number>();

  const revive = async (i: number): Promise<Sender> => {
    const found = senders[i];
    if (found?.alive === true) return found;
    const fresh = await start();
    senders[i] = fresh;
    await fresh.recover();
    return fresh;
  };
  for (const one of steps) {
    switch (one.do) {
      case 'begin': {
        const by = await revive(one.sender);
        const lost = by.open.map(({ index }) => index);
        await by.begin(one.index, one.crashAt);
        if (by.alive) break;
        for (const open of lost) ambiguous.add(open);
        // Before its intent is on disk nothing can have been sent, and the journal proves it.
        if (one.crashAt === 'intent-written') ambiguous.add(one.index);
        break;
      }
      case 'finish': {
        const by = await revive(one.sender);
        const lost = by.open.map(({ index }) => index);
        const index = await by.finish(realm, one.fate, one.crashAt);
        if (index !== undefined && one.fate.startsWith('lost')) ambiguous.add(index);
        if (!by.alive) for (const open of lost) ambiguous.add(open);
        break;
      }
      case 'recover': {
        const by = await revive(one.sender);
        if (await by.recover()) await by.adoptDead();
        break;
      }
      case 'lose':
        lossy.losing = one.replies;
        break;
      case 'photograph':
        photographs.push(await photograph(owner));
        break;
      case 'roll back':
        await photographs[one.to % photographs.length]?.();
        break;
    }
  }

  lossy.losing = 0;
  // The faults end: everybody answers, recovers and works off what is left.
  for (const one of senders) while (one.alive && one.open.length > 0) await one.finish(realm, 'paid', null);
  for (let i = 0; i < SENDERS; i++) await revive(i);
  for (let round = 0; round < 3; round++)
    for (const one of senders) if (await one.recover()) await one.adoptDead();
  await feedAll(batch);
  const worker = senders[0];
  if (worker === undefined) throw new Error('no sender');
  expect(await worker.recover()).toBe(true);
  for (let round = 0; round < 4; round++)
    for (let index = 1; index <= ORDERS; index++) {
      await worker.begin(index, null);
      while (worker.open.length > 0) await worker.finish(realm, 'paid', null);
    }

  const wrong: string[] = [];
  for (let index = 1; index <= ORDERS; index++) {
    const { code } = await readRecord(batch.ref, index);
    const applied = realm.applied.get(index) ?? 0;
    if (applied > 1) wrong.push(`${index} was applied ${applied} times`);
    if (code === 'P' && applied !== 1) wrong.push(`${index} is paid and was applied ${applied} times`);
    if ((code === 'R' || code === 'X') && applied > 0) wrong.push(`${index} is ${code} and was applied`);
    if (code === 'D' && !ambiguous.has(index)) wrong.push(`${index} is in doubt for nothing`);
    if (!'PRXD'.includes(code)) wrong.push(`${index} has not ended: ${code}`);
  }
  wrong.push(...(await tieUp(owner)));
  expect(wrong).toEqual([]);
}

describe.each<Certainty>(['manual', 'idempotent'])('with certainty %s', (certainty) => {
  test('every history ends with nobody paid twice and no lazy doubt', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), (steps) =>
        play(certainty, steps),
      ),
      {
        numRuns: Number(process.env.MODEL_RUNS ?? 40),
        ...(process.env.MODEL_SEED ? { seed: Number(process.env.MODEL_SEED) } : {}),
      },
    );
  }, 120_000);
});
