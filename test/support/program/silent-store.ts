import { expect } from 'vitest';
import { onBadNetwork, Program } from './program.js';
import { uniqueRows } from './unique-rows.js';

/** How long these tests wait for an answer of the store, and for a stop. */
export const ANSWER_MS = 1_500;
const STOP_MS = 1_000;

/**
 * A world with a store that stops answering but keeps its connections open: its host has vanished or is frozen. A
 * request may take a minute here, so that a lost slot of the pace shows as a minute of silence.
 */
export const openSilentWorld = (members: number): Promise<Program> =>
  Program.start(
    onBadNetwork({
      certainty: 'manual',
      members: uniqueRows(members).seeds,
      rate: '40/s',
      totalMs: 60_000,
      limits: { storeAnswerMs: ANSWER_MS, stopMs: STOP_MS },
    }),
  );

/** Expects both commands to end and to name the store as the cause. */
export async function expectStoreNamed(world: Program, back: () => void): Promise<void> {
  const [status, doctor] = await Promise.all([world.run('status', '--json'), world.run('doctor', '--json')]);
  back();
  expect([status.status, status.stdout]).toEqual([5, expect.stringContaining('ALM_STORE_UNREACHABLE')]);
  expect(doctor.status).not.toBe(0);
  const { checks } = JSON.parse(doctor.stdout);
  for (const name of ['store', 'journals'])
    expect(checks).toContainEqual(
      expect.objectContaining({
        name,
        state: 'failed',
        message: expect.stringContaining('cannot be reached'),
      }),
    );
}
