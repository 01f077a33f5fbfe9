import { sending } from '../ledger/index.js';
import type { Config } from './config/config.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const INTERRUPTED_EXIT = 130;
const UNSETTLED_EXIT = 1;
const SLACK_MS = 10_000;

/** Long enough for every request in progress: a stop never cuts one off. */
export function stopDeadlineMs({ limits, profiles }: Pick<Config, 'limits' | 'profiles'>): number {
  const longest = Math.max(0, ...profiles.map(({ timeouts }) => timeouts.totalMs));
  return limits.stopMs ?? longest + SLACK_MS;
}

/**
 * Ctrl-C, SIGTERM and a closed terminal ask the work to stop in order: requests in progress finish. A second signal
 * leaves immediately; the next start recovers, as after any other death. After `deadlineMs` the process stops waiting
 * for a store or realm that does not answer. A process that leaves with results that the store refuses exits with 1.
 */
export async function withStopSignals<T>(
  work: (stop: AbortSignal) => Promise<T>,
  onFirst: () => void = () => {},
  deadlineMs: number | null = null,
): Promise<T> {
  const controller = new AbortController();
  const hear = () => {
    if (controller.signal.aborted) process.exit(INTERRUPTED_EXIT);
    onFirst();
    if (deadlineMs !== null)
      setTimeout(
        () => process.exit(sending.Attempts.holdRefused() ? UNSETTLED_EXIT : INTERRUPTED_EXIT),
        deadlineMs,
      ).unref();
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, hear);
  try {
    return await work(controller.signal);
  } finally {
    // After a first signal, keep the listener. Without it, the next signal would kill the process while it leaves.
    if (!controller.signal.aborted) for (const signal of SIGNALS) process.off(signal, hear);
  }
}
