/** How long a worker waits for what. */
export const LIMITS = {
  /** How long BullMQ believes in a delivery without a sign of life. Nothing safe rests on it. */
  lockMs: 30_000,
  /** Work waiting, none taken, for so long: the process ends. */
  stalledMs: 60_000,
  /** How long other processes may take to merge their journals before the batches are shown as halted. */
  mergePatienceMs: 15_000,
  /** Open for so long, the breaker halts the realm. */
  breakerHaltMs: 15 * 60_000,
  /** An answering store that refuses a result for so long gets it offered out of the worker's slot. */
  refusedMs: 60_000,
  /** How long a stop waits for refused results; null: the realm's time-outs and 10 s. */
  stopMs: null as number | null,
};

export type WorkerLimits = typeof LIMITS;

const STOP_SLACK_MS = 10_000;
/** The rest of the time is for closing and for saying what is left. */
const STOP_SHARE = 0.8;

/** How long a stop waits for the store to take what it has refused. */
export function drainMs({ stopMs }: WorkerLimits, totalMs: number): number {
  return (stopMs ?? totalMs + STOP_SLACK_MS) * STOP_SHARE;
}
