import { messageOf } from '../core/errors/error.js';

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
