import { LRUCache } from 'lru-cache';

/**
 * Wrong tokens per address and over all addresses, in this process. Tokens cannot be guessed; the limit
 * keeps the tries from costing anything and makes them seen. Right tokens are never counted, so nobody who
 * has one is locked out by their own reloading.
 */
const PER_ADDRESS = 10;
const OVERALL = 100;
const WINDOW_MS = 60_000;
const ADDRESSES_MAX = 10_000;

type Window = { startedAt: number; wrong: number };

export class LoginLimit {
  private readonly byAddress = new LRUCache<string, Window>({ max: ADDRESSES_MAX });
  private overall: Window = { startedAt: 0, wrong: 0 };

  constructor(private readonly now: () => number) {}

  /** Seconds to wait before another token is looked at; 0: go on. */
  waitSeconds(address: string): number {
    return Math.max(this.left(this.byAddress.get(address), PER_ADDRESS), this.left(this.overall, OVERALL));
  }

  noteWrong(address: string): void {
    this.byAddress.set(address, this.counted(this.byAddress.get(address)));
    this.overall = this.counted(this.overall);
  }

  private counted(window: Window | undefined): Window {
    const now = this.now();
    return window === undefined || now - window.startedAt >= WINDOW_MS
      ? { startedAt: now, wrong: 1 }
      : { ...window, wrong: window.wrong + 1 };
  }

  private left(window: Window | undefined, limit: number): number {
    if (window === undefined || window.wrong < limit) return 0;
    return Math.max(0, Math.ceil((window.startedAt + WINDOW_MS - this.now()) / 1000));
  }
}
