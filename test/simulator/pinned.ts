import { afterAll, beforeAll, expect } from 'vitest';
import type { Move, Plan } from './moves.js';
import { SMOOTHLY } from './process.js';
import { Simulator } from './run.js';

/** Building blocks for pinned histories. */

export const SHAPE = {
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
  guarded: false,
  deniesInfo: false,
  embedded: false,
  copiesFolders: false,
} as const;

export type Send = Extract<Move, { do: 'send' }>;

export function send(who: number, first: number, ...fates: Send['fates']): Send {
  return { do: 'send', who, file: 0, first, count: 1, fates, until: 'answered', how: SMOOTHLY };
}

export function begin(who: number, first: number, fate: Send['fates'][number] = 'paid'): Send {
  return { ...send(who, first, fate), until: 'sent' };
}

export const crash = (who: number, first: number): Send => ({
  ...begin(who, first),
  how: { ...SMOOTHLY, crashAt: 'begun' },
});
export const answer = (who: number): Move => ({ do: 'answer', who, count: 1, how: SMOOTHLY });
export const claim = (who: number, first: number): Send => ({
  ...send(who, first, 'paid'),
  until: 'claimed',
});
export const goOn = (who: number): Move => ({ do: 'go on', who, how: SMOOTHLY });
export const look = (who: number): Move => ({ do: 'look', who, how: SMOOTHLY });
export const leave = (who: number): Move => ({ do: 'leave', who });
export const EVERYBODY: Move = { do: 'everybody looks' };
export const PHOTOGRAPH: Move = { do: 'photograph' };
export const restore = (to: number): Move => ({ do: 'restore', to });

/** For a test file: returns a function that plays a history to its end and expects no fault. */
export function playing(): (shape: Partial<Plan>, ...moves: readonly Move[]) => Promise<void> {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await Simulator.start();
  });
  afterAll(() => simulator.stop());
  return async (shape, ...moves) => {
    const { faults } = await simulator.play({ ...SHAPE, ...shape, moves });
    expect(faults).toEqual([]);
  };
}
