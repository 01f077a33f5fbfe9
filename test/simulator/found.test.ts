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

/**
 * Histories with faults that the simulator found, reduced to the moves that matter. Each title states the guarantee
 * that the history once broke.
 */

/** Three processes on one machine; none has seen what the others did. */
const BESIDE = { machines: 1, processes: 3, early: 3 } as const;
const ONE_FOLDER = { machines: 1, processes: 2, early: 1 } as const;
/** Read-back on two members, with one row that credits a member and one that debits the same amount. */
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

test('an expired key is not resent', () =>
  ends({ certainty: 'idempotent' }, send(1, 5, 'lost-after'), { do: 'pass', ms: KEY_LIFETIME_MS }));

test('a request is not resent if its key could expire before it arrives', () =>
  ends(
    { certainty: 'idempotent' },
    send(1, 5, 'lost-after'),
    { do: 'pass', ms: KEY_LIFETIME_MS - SETTLE_MS / 2 },
    send(1, 5, 'lost-late'),
  ));

test('a refused resend does not settle the order while the first request may still arrive: failed.csv is imported', () =>
  ends(
    { certainty: 'idempotent' },
    send(1, 1, 'lost-late'),
    send(0, 1, 'refused'),
    { do: 'run failed.csv', file: 0, count: 1, twice: false, held: false },
    { do: 'pass', ms: SETTLE_MS },
  ));

test('a refused resend does not settle the order while the first request may still arrive: the order is retried', () =>
  ends(
    { certainty: 'idempotent' },
    send(1, 1, 'lost-late'),
    send(0, 1, 'refused'),
    { do: 'retry', file: 0, first: 1, count: 1 },
    { do: 'pass', ms: SETTLE_MS },
  ));

test('a process that starts on an open ledger merges the journals in its data folder', () =>
  ends({}, send(1, 3, 'paid'), { do: 'restore', to: 0 }, { do: 'kill', who: 1 }, { do: 'everybody looks' }));

test('a journal file with an unsettled intent is kept even if the folder is full', () =>
  ends(
    { machines: 2, processes: 3, early: 3, orders: 40, rotates: true },
    { ...send(0, 1, 'paid'), count: 8, until: 'sent' },
    { ...send(2, 9, 'paid'), count: 16 },
    { ...send(2, 25, 'paid'), count: 16 },
    { do: 'kill', who: 0 },
  ));

test('a finished batch reopens when a journal restores an open order of it', () =>
  ends(
    { certainty: 'idempotent', early: 2 },
    send(1, 1, 'not-sent'),
    { do: 'sleep', who: 1 },
    { do: 'restore', to: 0 },
    { do: 'accept missing', machine: 0, nth: 0 },
  ));

test('orders that a lost machine was sending are reported', () =>
  ends({}, { ...send(1, 2, 'paid'), until: 'sent' }, { do: 'lose the machine', machine: 1 }));

test('a frozen process that a rolled-back store has forgotten sends nothing when it wakes', () =>
  ends(
    { machines: 3, processes: 3 },
    { ...send(1, 2, 'paid'), how: { ...SMOOTHLY, freezeAfter: 1 } },
    { do: 'restore', to: 0 },
    { do: 'everybody looks' },
    send(2, 2, 'paid'),
  ));

test('a process that was given up while frozen sends nothing when it wakes', () =>
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

test('read-back concludes nothing about a member while a doubtful request may still arrive', () =>
  ends(
    { certainty: 'readback', seed: 412, members: 3, processes: 2 },
    send(0, 4, 'lost-late'),
    { ...send(0, 6, 'paid'), count: 8 },
    { do: 'suspend', machine: 0, ms: 60_000 },
    { ...send(0, 3, 'lost-late'), count: 8 },
  ));

test('an order that a live process took back is sent again, though a rolled-back store has it as sending', () =>
  ends(
    { forgetsFiles: true },
    { ...send(1, 7, 'paid'), how: { ...SMOOTHLY, freezeAfter: 1 } },
    { do: 'photograph' },
    { do: 'pass', ms: 12_000 },
    { do: 'wake', who: 1 },
    { do: 'restore', to: 2 },
  ));

test('a new process finds what a frozen process has sent, even if the store has forgotten both', () =>
  ends(
    { seed: 1300096, processes: 4, members: 81 },
    send(1, 4, 'paid'),
    { ...send(1, 7, 'paid'), how: { ...SMOOTHLY, freezeAfter: 0 } },
    { do: 'restore', to: 0 },
    { do: 'everybody looks' },
    send(3, 8, 'paid'),
    { ...send(2, 3, 'paid'), count: 16 },
  ));

test('a process that was given up while frozen ends, and the next process pays what it had not begun', () =>
  ends(
    { theme: 'lost pasts' },
    { do: 'sleep', who: 0 },
    { do: 'accept missing', machine: 1, nth: 1 },
    { do: 'lose the machine', machine: 1 },
  ));

test('a store rolled back twice may hold an attempt from a discarded history', () =>
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

test('after a rollback the ledger stays closed until a process with a request under way has merged', () =>
  ends(BESIDE, begin(0, 5), restore(0), look(1), look(1), send(1, 5, 'paid'), answer(0)));

test('a request that arrives late, but within the settle time, is paid once', () =>
  ends(
    READ,
    send(0, 5, 'lost-late'),
    send(0, 5, 'paid'),
    { do: 'pass', ms: SETTLE_MS / 2 },
    send(0, 5, 'paid'),
    send(0, 5, 'paid'),
  ));

test('a forgotten read-back conclusion pays nothing twice, though another order has moved the member back since', () =>
  ends(
    READ,
    begin(0, GAIN, 'lost-after'),
    PHOTOGRAPH,
    answer(0),
    send(0, GAIN, 'paid'),
    send(0, LOSS, 'paid'),
    restore(1),
  ));

test('read-back does not use the balances of an earlier attempt when the latest ones are forgotten', () =>
  ends(
    READ,
    send(0, GAIN, 'slow-down'),
    PHOTOGRAPH,
    send(0, LOSS, 'paid'),
    send(0, GAIN, 'lost-after'),
    restore(1),
  ));

test('balances read under a hold that was given up prove nothing, even if the store has forgotten that', () =>
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

test('after a rollback, accepting removed journals treats orders they may have held as possibly sent', () =>
  ends(
    { ...ONE_FOLDER, early: 2, orders: 110, members: 9, rotates: true },
    { ...send(0, 100, 'paid'), count: 8 },
    begin(1, 21),
    PHOTOGRAPH,
    { ...send(1, 85, 'refused'), count: 8 },
    restore(1),
  ));

test('a rollback under the same run_id and epoch is noticed by a new process before the old one looks', () =>
  ends(
    {},
    send(0, 1, 'paid'),
    PHOTOGRAPH,
    send(0, 2, 'paid'),
    // The scene takes the first copy of the store before anything is sent.
    BACKUP,
    // The third process starts on the first machine.
    send(2, 2, 'paid'),
  ));

const PUT_BACK = [
  ['as new files', { do: 'put back', machine: 0, to: 0, store: false, inPlace: false }],
  ['in place', { do: 'put back', machine: 0, to: 0, store: false, inPlace: true }],
] as const satisfies [how: string, Move][];

test.each(PUT_BACK)(
  'an older data folder beside its store: orders missing from its journal may have been sent: %s',
  (_, putBack) => ends({ copiesFolders: true }, begin(0, 6), putBack),
);

test.each(PUT_BACK)(
  'an older data folder with its embedded store: nothing is sent until a person decides: %s',
  (_, putBack) =>
    ends(
      { ...ONE_FOLDER, embedded: true, copiesFolders: true },
      send(0, 6, 'paid'),
      { ...putBack, store: true },
      send(1, 6, 'paid'),
    ),
);

test('an old list of doubts does not decide a later doubt', () =>
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

test('a sent order is settled despite an unknown error of the store', () =>
  ends(
    {},
    begin(0, 3),
    { do: 'refuse', who: 0, refusals: ['never heard of', 'never heard of', 'closed'] },
    answer(0),
  ));

test('balances read for one attempt conclude nothing about the next one', () =>
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

/** Monday's process pays order 1 and leaves. Tuesday's process merges that the ledger has it, and pays order 2. */
const TWO_DAYS: readonly Move[] = [leave(0), PHOTOGRAPH, send(1, 1, 'paid'), leave(1), send(1, 2, 'paid')];
/** The same server loads Sunday's backup: same run_id, same epoch. */
const BACKUP: Move = { do: 'restore', to: 1, sameServer: true };

test('after a rollback under the same run_id and epoch, a live process merges all journals of its folder', () =>
  ends(ONE_FOLDER, ...TWO_DAYS, BACKUP, look(1), look(1), send(1, 1, 'paid')));

test('after a rollback under the same run_id and epoch, a starting process merges all journals of its folder', () =>
  ends(ONE_FOLDER, ...TWO_DAYS, leave(1), BACKUP, look(1), look(1), send(1, 1, 'paid')));
