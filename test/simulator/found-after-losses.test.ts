import { test } from 'vitest';
import type { Move } from './moves.js';
import { answer, begin, EVERYBODY, look, PHOTOGRAPH, playing, restore, send } from './pinned.js';
import { SETTLE_MS } from './realm.js';

/** The same after a store went back or a journal was lost: no answer speaks for another attempt. */

const ends = playing();

const EXPORT: Move = { do: 'export doubts' };
const RESOLVE: Move = { do: 'resolve doubts' };
const SETTLED: Move = { do: 'pass', ms: SETTLE_MS };
const ACCEPT: Move = { do: 'accept missing', machine: 0, nth: 0 };
const retry = (first: number): Move => ({ do: 'retry', file: 0, first, count: 1 });
/** What machine 1 has paid is forgotten by the store, and lost with its disk. */
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
  'an answer from before ends no doubt that a lost journal made: %s',
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

test('a list of doubts from before a lost journal ends no doubt that the loss has renewed', () =>
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
  'a no to one attempt ends no doubt that another shares: %s',
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
])('a session has merged in a past that was restored: it is waited for once more: %s', (_, shape) =>
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
])('another process moves a restored store on before a session finds itself forgotten: %s', (_, shape) =>
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

test('a data folder is replaced by an empty one, and the store goes back: the witness outside knows', () =>
  ends(
    { theme: 'folders and pasts', machines: 3, processes: 5, early: 1, members: 3, copiesFolders: true },
    send(2, 6, 'paid'),
    { do: 'put back', machine: 2, to: 1, store: false, inPlace: false },
    restore(0),
  ));

test('a process starts beside one that knows what a store has forgotten under the same run_id', () =>
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
] as const)('a no of another past ends no unknown, whatever its number: %s, %s', (certainty, no, fate) =>
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

test('a rule over balances runs again after its run was forgotten, and makes other orders: nobody is paid twice', () =>
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

test('a cancel is forgotten, and the file that was paid instead: nothing is sent for its equal rows', () =>
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

test('a file that is half paid is given again in another currency: its rows are not paid once more', () =>
  ends(
    { distinct: true },
    { ...send(0, 1, 'paid'), count: 4 },
    { do: 'steer', file: 0, verb: 'cancel' },
    { do: 'change the currency', currency: 'gems' },
    { do: 'repeat', file: 0, first: 0, count: 8, fresh: 0, held: false },
    FED,
    { ...send(0, 1, 'paid'), file: 1, count: 8 },
  ));

test('an award whose row was left out as a duplicate turns out paid: it is called paid, and nobody is paid twice', () =>
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

test('a row that was left out as a duplicate of an unsent award may have been paid in a forgotten past', () =>
  ends(
    { seed: 1, files: 2, forgetsFiles: true, distinct: true, members: 13 },
    { do: 'the schedule runs', first: 0, count: 10 },
    { do: 'feed', who: 0 },
    { ...send(2, 2, 'lost-late'), file: 2 },
    { ...send(2, 3, 'paid'), file: 8 },
    restore(0),
    { do: 'the schedule runs', first: 0, count: 2 },
  ));
