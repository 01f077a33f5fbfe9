import { until } from '../until.js';
import { onBadNetwork, Program } from './program.js';
import { uniqueRows } from './unique-rows.js';

/**
 * A worker is killed with a full window of requests under way, each with a time-out of a minute. The next worker must
 * not wait for that time-out: the pace knows which slots the dead worker held, and that it will not answer them.
 */
/** Requests a second, which is also the size of a window. */
const RATE = 4;
const TIMEOUT_MS = 60_000;
/** Longer than a window, so that unanswered requests fill it. */
const ANSWER_MS = 1_500;
/** A window, an answer, and a margin for a busy machine: still half of the time-out. */
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

    /**
     * Waits until unanswered requests hold every slot of a window, kills the worker, and lets those requests arrive.
     */
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
