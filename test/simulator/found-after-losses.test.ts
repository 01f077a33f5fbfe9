import { test } from 'vitest';
import type { Move } from './moves.js';
import { answer, begin, EVERYBODY, look, PHOTOGRAPH, playing, restore, send } from './pinned.js';
import { SETTLE_MS } from './realm.js';

/**
 * Histories in which the store was rolled back or a journal was lost. An answer to one attempt must not settle another
 * one.
 */

const ends = playing();

const EXPORT: Move = { do: 'export doubts' };
const RESOLVE: Move = { do: 'resolve doubts' };
const SETTLED: Move = { do: 'pass', ms: SETTLE_MS };
const ACCEPT: Move = { do: 'accept missing', machine: 0, nth: 0 };
const retry = (first: number): Move => ({ do: 'retry', file: 0, first, count: 1 });
/** The store forgets everything that machine 1 has paid, and the disk with its journal is lost. */
const LOST_WITH_ITS_DISK: readonly Move[] = [
  restore(1),
  { do: 'lose the machine', machine: 1 },
  EVERYBODY,
  ACCEPT,
  EVERYBODY,
  ACCEPT,
  ...[EVERYBODY, EVERYBODY],
];

test.each(['slow-down', 'refused', 'not-sent'] as const)(
  'an answer from before a lost journal does not settle the doubt made for it: %s',
  (fate) =>
    ends(
      { early: 2, theme: 'lost pasts' },
      send(0, 3, fate),
      PHOTOGRAPH,
      ...(fate === 'refused' ? [retry(3)] : []),
      send(1, 3, 'paid'),
      ...LOST_WITH_ITS_DISK,
      send(0, 3, 'paid'),
    ),
);

test('a list of doubts from before a lost journal does not decide a doubt that the loss has renewed', () =>
  ends(
    { early: 2, theme: 'lost pasts' },
    send(0, 3, 'lost-before'),
    SETTLED,
    EXPORT,
    PHOTOGRAPH,
    RESOLVE,
    retry(3),
    send(1, 3, 'paid'),
    ...LOST_WITH_ITS_DISK,
    { do: 'decide as exported' },
    retry(3),
    send(0, 3, 'paid'),
  ));

test.each(['refused', 'slow-down'] as const)(
  'a negative answer to one attempt does not settle a doubt that it shares with another attempt: %s',
  (fate) =>
    ends(
      { early: 2 },
      begin(0, 3, fate),
      { do: 'sleep', who: 0 },
      { do: 'accept missing', machine: 1, nth: 0 },
      PHOTOGRAPH,
      SETTLED,
      RESOLVE,
      retry(3),
      send(1, 3, 'lost-after'),
      restore(1),
      ...[look(1), look(1)],
      { do: 'wake', who: 0 },
      answer(0),
      look(1),
      send(1, 3, 'paid'),
    ),
);

test.each([
  ['under the same run_id', { deniesInfo: false }],
  ['without INFO', { deniesInfo: true }],
])('a session that merged in a discarded history is waited for again: %s', (_, shape) =>
  ends(
    { early: 2, ...shape },
    send(0, 2, 'paid'),
    { do: 'sleep', who: 1 },
    { do: 'restore', to: 0, sameServer: true },
    ...[look(0), look(0)],
    PHOTOGRAPH,
    { do: 'wake', who: 1 },
    EVERYBODY,
    send(0, 5, 'paid'),
    { do: 'sleep', who: 0 },
    { do: 'restore', to: 1, sameServer: true },
    ...[look(1), look(1)],
    send(1, 5, 'paid'),
    { do: 'wake', who: 0 },
  ),
);

test.each([
  ['under the same run_id', { deniesInfo: false }],
  ['without INFO', { deniesInfo: true }],
])(
  'a session that a rolled-back store has forgotten loses nothing when another process advances the store first: %s',
  (_, shape) =>
    ends(
      { early: 1, ...shape },
      send(0, 1, 'paid'),
      { do: 'restore', to: 0, sameServer: true },
      ...[3, 4, 5, 6].map((order) => send(1, order, 'paid')),
      ...[look(0), look(0), look(1)],
      send(0, 1, 'paid'),
      send(1, 1, 'paid'),
    ),
);

test('an empty data folder and a rolled-back store: the witness outside reveals the missing journal', () =>
  ends(
    { theme: 'folders and pasts', machines: 3, processes: 5, early: 1, members: 3, copiesFolders: true },
    send(2, 6, 'paid'),
    { do: 'put back', machine: 2, to: 1, store: false, inPlace: false },
    restore(0),
  ));

test('a process that starts after a rollback under the same run_id pays nothing that a process of its folder has paid', () =>
  ends(
    { early: 2, machines: 1 },
    send(1, 1, 'paid'),
    { do: 'restore', to: 0, sameServer: true },
    { do: 'kill', who: 0 },
    send(0, 1, 'paid'),
  ));

test.each([
  ['readback', 'slow-down', 'lost-after'],
  ['readback', 'refused', 'lost-after'],
  ['idempotent', 'slow-down', 'lost-late'],
] as const)(
  'a negative answer from a discarded history does not settle an unknown order, whatever its number: %s, %s',
  (certainty, no, fate) =>
    ends(
      { early: 2, theme: 'lost pasts', certainty },
      send(1, 3, 'slow-down'),
      send(1, 3, no),
      restore(0),
      { do: 'swap the folder', machine: 1 },
      EVERYBODY,
      ACCEPT,
      ...[EVERYBODY, EVERYBODY],
      SETTLED,
      RESOLVE,
      retry(3),
      send(0, 3, fate),
      { do: 'swap the folder', machine: 1 },
      look(1),
      send(1, 8, 'paid'),
      ...[EVERYBODY, EVERYBODY],
      send(0, 3, 'paid'),
      send(0, 3, 'paid'),
    ),
);

const FED: Move = { do: 'feed', who: 0 };
const schedule = { do: 'the schedule runs', first: 0, count: 3 } as const;

test('a forgotten run of a rule over balances makes other orders when it is repeated, and pays each member once', () =>
  ends(
    { distinct: true },
    schedule,
    FED,
    { ...send(0, 1, 'paid'), file: 1, count: 3 },
    restore(0),
    EVERYBODY,
    schedule,
    FED,
    { ...send(0, 1, 'paid'), file: 2, count: 3 },
  ));

test('a forgotten cancel and a file paid in its place: equal rows of the cancelled file are not sent', () =>
  ends(
    { distinct: true },
    { do: 'steer', file: 0, verb: 'cancel' },
    { do: 'repeat', file: 0, first: 0, count: 7, fresh: 1, held: false },
    FED,
    { ...send(0, 1, 'paid'), file: 1, count: 8 },
    restore(0),
    EVERYBODY,
    { ...send(0, 1, 'paid'), count: 8 },
  ));

test('a half-paid file that is imported again in another currency pays no row twice', () =>
  ends(
    { distinct: true },
    { ...send(0, 1, 'paid'), count: 4 },
    { do: 'steer', file: 0, verb: 'cancel' },
    { do: 'change the currency', currency: 'gems' },
    { do: 'repeat', file: 0, first: 0, count: 8, fresh: 0, held: false },
    FED,
    { ...send(0, 1, 'paid'), file: 1, count: 8 },
  ));

test('an award that was left out as a duplicate and proves paid is reported as paid and not paid again', () =>
  ends(
    {
      ...{
        seed: 45_000_343,
        certainty: 'idempotent',
        theme: 'schedules and pasts',
        machines: 3,
        processes: 5,
      },
      ...{ members: 13, forgetsFiles: true, distinct: true },
    },
    { ...schedule, first: 1, count: 10 },
    { do: 'feed', who: 4 },
    { do: 'kill', who: 4 },
    { ...send(2, 8, 'paid'), file: 11 },
    { ...send(1, 3, 'paid'), file: 1 },
    restore(0),
    look(1),
    { ...schedule, first: 1, count: 200 },
  ));

test('a row left out as a duplicate of an unsent award is not paid again if a discarded history paid it', () =>
  ends(
    { seed: 1, files: 2, forgetsFiles: true, distinct: true, members: 13 },
    { do: 'the schedule runs', first: 0, count: 10 },
    { do: 'feed', who: 0 },
    { ...send(2, 2, 'lost-late'), file: 2 },
    { ...send(2, 3, 'paid'), file: 8 },
    restore(0),
    { do: 'the schedule runs', first: 0, count: 2 },
  ));
