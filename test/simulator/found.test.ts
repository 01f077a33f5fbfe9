import { test } from 'vitest';
import { firstFile } from './files.js';
import type { Move } from './moves.js';
import {
  answer,
  begin,
  claim,
  crash,
  EVERYBODY,
  goOn,
  leave,
  look,
  PHOTOGRAPH,
  playing,
  restore,
  SHAPE,
  send,
} from './pinned.js';
import { SMOOTHLY } from './process.js';
import { KEY_LIFETIME_MS, SETTLE_MS } from './realm.js';

/** Histories that the simulator found, cut down to what matters. Each once ended as its name says it must not. */

/** Three processes on one machine, none of which knows what the others remember. */
const BESIDE = { machines: 1, processes: 3, early: 3 } as const;
const ONE_FOLDER = { machines: 1, processes: 2, early: 1 } as const;
/** Read-back on two members, with a row that one of them gains by and a row that it loses the same by. */
const READ = { ...BESIDE, certainty: 'readback', members: 2 } as const;
const [GAIN, LOSS] = gainAndLoss();

function gainAndLoss(): [number, number] {
  const { rows } = firstFile({ ...SHAPE, ...READ, moves: [] }, 0);
  const loss = (gain: number) =>
    rows.findIndex(({ order: { op, member } }) => op === 'debit' && member === rows[gain]?.order.member);
  const gain = rows.findIndex(({ order }, i) => order.op === 'credit' && loss(i) !== -1);
  return [gain + 1, loss(gain) + 1];
}

const ends = playing();

test('a key that has outlived its life is not sent again', () =>
  ends({ certainty: 'idempotent' }, send(1, 5, 'lost-after'), { do: 'pass', ms: KEY_LIFETIME_MS }));

test('a resend that would arrive when its key is forgotten does not leave', () =>
  ends(
    { certainty: 'idempotent' },
    send(1, 5, 'lost-after'),
    { do: 'pass', ms: KEY_LIFETIME_MS - SETTLE_MS / 2 },
    send(1, 5, 'lost-late'),
  ));

test('a refusal of a resend ends nothing while the first request may still arrive: a file of what failed', () =>
  ends(
    { certainty: 'idempotent' },
    send(1, 1, 'lost-late'),
    send(0, 1, 'refused'),
    { do: 'run failed.csv', file: 0, count: 1, twice: false, held: false },
    { do: 'pass', ms: SETTLE_MS },
  ));

test('a refusal of a resend ends nothing while the first request may still arrive: a retry', () =>
  ends(
    { certainty: 'idempotent' },
    send(1, 1, 'lost-late'),
    send(0, 1, 'refused'),
    { do: 'retry', file: 0, first: 1, count: 1 },
    { do: 'pass', ms: SETTLE_MS },
  ));

test('a process that starts on an armed ledger merges the journals beside it', () =>
  ends({}, send(1, 3, 'paid'), { do: 'restore', to: 0 }, { do: 'kill', who: 1 }, { do: 'everybody looks' }));

test('a file with an open intent stays, however full the folder is', () =>
  ends(
    { machines: 2, processes: 3, early: 3, orders: 40, rotates: true },
    { ...send(0, 1, 'paid'), count: 8, until: 'sent' },
    { ...send(2, 9, 'paid'), count: 16 },
    { ...send(2, 25, 'paid'), count: 16 },
    { do: 'kill', who: 0 },
  ));

test('a batch that was done goes on when a journal brings an order of it back', () =>
  ends(
    { certainty: 'idempotent', early: 2 },
    send(1, 1, 'not-sent'),
    { do: 'sleep', who: 1 },
    { do: 'restore', to: 0 },
    { do: 'accept missing', machine: 0, nth: 0 },
  ));

test('what a machine was sending when it was lost is named', () =>
  ends({}, { ...send(1, 2, 'paid'), until: 'sent' }, { do: 'lose the machine', machine: 1 }));

test('a process that a restored store has forgotten, frozen with the leave to send, sends nothing when it wakes', () =>
  ends(
    { machines: 3, processes: 3 },
    { ...send(1, 2, 'paid'), how: { ...SMOOTHLY, freezeAfter: 1 } },
    { do: 'restore', to: 0 },
    { do: 'everybody looks' },
    send(2, 2, 'paid'),
  ));

test('a process that wakes after it was given up sends nothing', () =>
  ends(
    { early: 2 },
    { ...send(1, 2, 'paid'), until: 'sent', how: { ...SMOOTHLY, freezeAfter: 1 } },
    { do: 'accept missing', machine: 0, nth: 0 },
    { do: 'pass', ms: SETTLE_MS },
    { do: 'resolve doubts' },
    { do: 'retry', file: 0, first: 2, count: 1 },
    send(0, 2, 'paid'),
    { do: 'wake', who: 1 },
  ));

test('read-back proves nothing on a member whose doubtful request may still arrive', () =>
  ends(
    { certainty: 'readback', seed: 412, members: 3, processes: 2 },
    send(0, 4, 'lost-late'),
    { ...send(0, 6, 'paid'), count: 8 },
    { do: 'suspend', machine: 0, ms: 60_000 },
    { ...send(0, 3, 'lost-late'), count: 8 },
  ));

test('what a living process took back, and a restored store remembers as being sent, is worked on again', () =>
  ends(
    { forgetsFiles: true },
    { ...send(1, 7, 'paid'), how: { ...SMOOTHLY, freezeAfter: 1 } },
    { do: 'photograph' },
    { do: 'pass', ms: 12_000 },
    { do: 'wake', who: 1 },
    { do: 'restore', to: 2 },
  ));

test('what a sleeping process has sent, and the store has forgotten with it, is seen by who starts beside it', () =>
  ends(
    { seed: 1300096, processes: 4, members: 81 },
    send(1, 4, 'paid'),
    { ...send(1, 7, 'paid'), how: { ...SMOOTHLY, freezeAfter: 0 } },
    { do: 'restore', to: 0 },
    { do: 'everybody looks' },
    send(3, 8, 'paid'),
    { ...send(2, 3, 'paid'), count: 16 },
  ));

test('a process that was given up while it slept ends, and what it had not begun is paid by the next', () =>
  ends(
    { theme: 'lost pasts' },
    { do: 'sleep', who: 0 },
    { do: 'accept missing', machine: 1, nth: 1 },
    { do: 'lose the machine', machine: 1 },
  ));

test('a store restored twice shows an attempt that was begun in a past which no longer counts', () =>
  ends(BESIDE, crash(0, 5), PHOTOGRAPH, restore(0), EVERYBODY, send(1, 5, 'paid'), restore(1)));

test('the same, after the attempt was taken back', () =>
  ends(
    BESIDE,
    crash(0, 5),
    EVERYBODY,
    PHOTOGRAPH,
    restore(0),
    EVERYBODY,
    send(1, 5, 'lost-after'),
    restore(1),
  ));

test('a request is under way elsewhere when the store goes back: nobody arms before that process has merged', () =>
  ends(BESIDE, begin(0, 5), restore(0), look(1), look(1), send(1, 5, 'paid'), answer(0)));

test('a request arrives late, but within the settle time', () =>
  ends(
    READ,
    send(0, 5, 'lost-late'),
    send(0, 5, 'paid'),
    { do: 'pass', ms: SETTLE_MS / 2 },
    send(0, 5, 'paid'),
    send(0, 5, 'paid'),
  ));

test('what read-back concluded is forgotten, and another order has moved the member back since', () =>
  ends(
    READ,
    begin(0, GAIN, 'lost-after'),
    PHOTOGRAPH,
    answer(0),
    send(0, GAIN, 'paid'),
    send(0, LOSS, 'paid'),
    restore(1),
  ));

test('the balances before the last attempt are forgotten, those before an earlier one are not', () =>
  ends(
    READ,
    send(0, GAIN, 'slow-down'),
    PHOTOGRAPH,
    send(0, LOSS, 'paid'),
    send(0, GAIN, 'lost-after'),
    restore(1),
  ));

test('balances read under a hold of which the store has forgotten that it was given up', () =>
  ends(
    READ,
    claim(0, GAIN),
    claim(1, GAIN),
    goOn(1),
    send(1, LOSS, 'paid'),
    restore(0),
    EVERYBODY,
    claim(1, GAIN),
    goOn(0),
  ));

test('journals that were removed are given up after a restore: what they do not hold may have been sent', () =>
  ends(
    { ...ONE_FOLDER, early: 2, orders: 110, members: 9, rotates: true },
    { ...send(0, 100, 'paid'), count: 8 },
    begin(1, 21),
    PHOTOGRAPH,
    { ...send(1, 85, 'refused'), count: 8 },
    restore(1),
  ));

test('a store that forgets under the same run_id and epoch: a process starts beside one that has not looked yet', () =>
  ends(
    {},
    send(0, 1, 'paid'),
    PHOTOGRAPH,
    send(0, 2, 'paid'),
    // The first photograph is taken by the scene, before anything was sent.
    BACKUP,
    // The third process starts on the first machine.
    send(2, 2, 'paid'),
  ));

const PUT_BACK = [
  ['as new files', { do: 'put back', machine: 0, to: 0, store: false, inPlace: false }],
  ['in place', { do: 'put back', machine: 0, to: 0, store: false, inPlace: true }],
] as const satisfies [how: string, Move][];

test.each(PUT_BACK)(
  'a data folder is put back beside its store: what its journal does not hold may have been sent: %s',
  (_, putBack) => ends({ copiesFolders: true }, begin(0, 6), putBack),
);

test.each(PUT_BACK)(
  'a data folder is put back with the store in it: nothing is sent before somebody has decided: %s',
  (_, putBack) =>
    ends(
      { ...ONE_FOLDER, embedded: true, copiesFolders: true },
      send(0, 6, 'paid'),
      { ...putBack, store: true },
      send(1, 6, 'paid'),
    ),
);

test('a list of doubts that is old says nothing about a later doubt', () =>
  ends(
    {},
    send(0, 3, 'lost-before'),
    { do: 'pass', ms: SETTLE_MS },
    { do: 'export doubts' },
    { do: 'resolve doubts' },
    { do: 'retry', file: 0, first: 3, count: 1 },
    send(0, 3, 'lost-after'),
    { do: 'decide as exported' },
  ));

test('a store refuses in words that nobody knows: what was sent is settled all the same', () =>
  ends(
    {},
    begin(0, 3),
    { do: 'refuse', who: 0, refusals: ['never heard of', 'never heard of', 'closed'] },
    answer(0),
  ));

test('balances read for one attempt conclude nothing about the next', () =>
  ends(
    READ,
    send(0, GAIN, 'lost-before'),
    // Both begin to wait, and read once after the settle time. The second reading concludes.
    ...[send(0, GAIN, 'paid'), send(1, GAIN, 'paid'), { do: 'pass', ms: SETTLE_MS } as const],
    ...[send(0, GAIN, 'paid'), send(1, GAIN, 'paid'), { do: 'pass', ms: 1_000 } as const],
    { ...send(0, GAIN, 'paid'), until: 'read' },
    send(1, GAIN, 'paid'),
    send(1, GAIN, 'lost-late'),
    answer(0),
    send(1, GAIN, 'paid'),
  ));

/** Monday's process pays order 1 and ends; Tuesday's notes that the ledger knows of it, and pays order 2. */
const TWO_DAYS: readonly Move[] = [leave(0), PHOTOGRAPH, send(1, 1, 'paid'), leave(1), send(1, 2, 'paid')];
/** The same server gets Sunday's data back: same run_id, same epoch. */
const BACKUP: Move = { do: 'restore', to: 1, sameServer: true };

test('a store that forgets under the same run_id and epoch: a living process merges all journals beside it', () =>
  ends(ONE_FOLDER, ...TWO_DAYS, BACKUP, look(1), look(1), send(1, 1, 'paid')));

test('a store that forgets under the same run_id and epoch: a process merges all journals at its start', () =>
  ends(ONE_FOLDER, ...TWO_DAYS, leave(1), BACKUP, look(1), look(1), send(1, 1, 'paid')));
