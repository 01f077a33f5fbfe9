import { messageOf } from '../core/errors/error.js';
import { type QuietHours, quietUntil } from '../core/quiet-hours.js';

/** Steps that are made again and again while a process lives, each never overlapping itself. */
export class Rounds {
  private readonly stopper = new AbortController();
  private readonly loops: Promise<void>[] = [];

  constructor(private readonly onTrouble: (message: string) => void) {}

  every(pauseMs: number, what: string, step: () => Promise<unknown>): void {
    this.loops.push(this.loop(pauseMs, what, step));
  }

  /** Resolves when the step under way, if any, has finished. */
  async stop(): Promise<void> {
    this.stopper.abort();
    await Promise.all(this.loops);
  }

  private async loop(pauseMs: number, what: string, step: () => Promise<unknown>): Promise<void> {
    const { signal } = this.stopper;
    while (!signal.aborted) {
      // A failing round is said and made again: feeding and sweeping must outlive a hiccup of the store.
      await step().catch((error: unknown) => this.onTrouble(`${what}: ${messageOf(error)}`));
      if (signal.aborted) return;
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        const timer = setTimeout(wake, pauseMs);
        signal.addEventListener('abort', wake);
      });
    }
  }
}

/**
 * A store that is out of memory makes a worker report thousands of errors a second. The same trouble is
 * said once in a while, with how often it came meanwhile; different troubles do not silence each other.
 */
export function quietly(say: (message: string) => void, everyMs = 5_000): (message: string) => void {
  const known = new Map<string, { saidAtMs: number; swallowed: number }>();
  return (message) => {
    const kind = message.slice(0, KIND_CHARACTERS);
    const entry = known.get(kind);
    const now = performance.now();
    if (entry !== undefined && now - entry.saidAtMs < everyMs) {
      entry.swallowed += 1;
      return;
    }
    if (known.size >= KINDS_MAX) known.clear();
    known.set(kind, { saidAtMs: now, swallowed: 0 });
    const again = entry?.swallowed ?? 0;
    say(again > 0 ? `${message} (and ${again} times more since it was last said)` : message);
  };
}

const KIND_CHARACTERS = 48;
const KINDS_MAX = 200;

/** Asked with every order: looked up once a second. */
export function quietClock(quiet: QuietHours | null): () => number | null {
  let [lookedMs, ends]: [number, number | null] = [Number.NEGATIVE_INFINITY, null];
  return () => {
    if (quiet !== null && performance.now() - lookedMs > 1_000) {
      lookedMs = performance.now();
      ends = quietUntil(quiet, Date.now());
    }
    return ends;
  };
}
