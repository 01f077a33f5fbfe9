import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Move, Plan } from './moves.js';
import { SMOOTHLY } from './process.js';
import { KEY_LIFETIME_MS, SETTLE_MS } from './realm.js';
import { Simulator } from './run.js';

/** Histories that the simulator found, cut down to what matters. Each once ended as its name says it must not. */

let simulator: Simulator;
beforeAll(async () => {
  simulator = await Simulator.start();
});
afterAll(() => simulator.stop());

const SHAPE = {
  seed: 2,
  certainty: 'manual',
  theme: 'everything',
  machines: 2,
  processes: 2,
  early: 1,
  files: 1,
  orders: 8,
  members: 6,
  rotates: false,
  forgetsFiles: false,
  distinct: false,
} as const;

type Send = Extract<Move, { do: 'send' }>;

function send(who: number, first: number, ...fates: Send['fates']): Send {
  return { do: 'send', who, file: 0, first, count: 1, fates, until: 'answered', how: SMOOTHLY };
}

async function ends(shape: Partial<Plan>, ...moves: readonly Move[]): Promise<void> {
  const { faults } = await simulator.play({ ...SHAPE, ...shape, moves });
  expect(faults).toEqual([]);
}

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
