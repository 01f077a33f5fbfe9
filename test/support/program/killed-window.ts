import { until } from '../until.js';
import { onBadNetwork, Program } from './program.js';
import { uniqueRows } from './unique-rows.js';

/**
 * A process is killed with a window's worth of requests under way, whose time-out is a minute. The process that comes
 * next must not wait for it: the pace knows whose slots they were, and that nobody answers them any more.
 */
/** Requests a second: so many are a window. */
const RATE = 4;
const TIMEOUT_MS = 60_000;
/** Longer than a window, so that it fills with requests that are under way. */
const ANSWER_MS = 1_500;
/** A window, an answer, and more for a busy machine: still half of the time-out. */
export const GOES_ON_MS = 30_000;

export async function openKilledWindow(rows: number) {
  const world = await Program.start(
    onBadNetwork({
      certainty: 'idempotent',
      members: uniqueRows(rows).seeds,
      rate: `${RATE}/s`,
      totalMs: TIMEOUT_MS,
      faults: [`latency:1:${ANSWER_MS}`],
    }),
  );
  return {
    world,

    /** Waits until every slot of a window is taken and not answered, kills, and lets arrive what was under way. */
    async killInTheMiddle(worker: ReturnType<Program['start']>): Promise<number> {
      const { scripts, keyPrefix } = world.ledger();
      await until(
        `a window full of requests: ${worker.stderr()}`,
        async () => (await scripts.redis.hlen(`${keyPrefix}:pace:o`)) >= RATE,
        60_000,
      );
      worker.child.kill('SIGKILL');
      await worker.ended;
      return world.appliedWhenQuiet(ANSWER_MS + 200);
    },

    async msUntilMore(than: number): Promise<number> {
      const startedAt = performance.now();
      await until('payments to go on', async () => (await world.appliedCount()) > than, TIMEOUT_MS + 30_000);
      return performance.now() - startedAt;
    },
  };
}
