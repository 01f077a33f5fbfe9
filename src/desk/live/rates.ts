import { LRUCache } from 'lru-cache';
import { openCount } from '../../core/states.js';
import type { BatchView } from '../../ledger/index.js';
import { isoTime } from '../../words/spelling.js';

/** How many orders a batch settles per second of late, from what was seen in the last minute. */
const WINDOW_MS = 60_000;
const BATCHES_MAX = 500;
/** What was settled in less time is no rate. */
const RATE_FROM_S = 2;

type Sample = { readonly at: number; readonly settled: number };

export class SettleRates {
  private readonly samples = new LRUCache<string, Sample[]>({ max: BATCHES_MAX });

  note(batch: string, view: BatchView, now: number): void {
    if (view.state !== 'running') {
      this.samples.delete(batch);
      return;
    }
    const kept = (this.samples.get(batch) ?? []).filter(({ at }) => now - at <= WINDOW_MS);
    this.samples.set(batch, [...kept, { at: now, settled: settledOf(view) }]);
  }

  perSecond(batch: string, view: BatchView, now: number): number | null {
    if (view.state !== 'running') return null;
    const [first] = this.samples.get(batch) ?? [];
    const settled = settledOf(view);
    // Young pictures are noisy; until there is one of some seconds, the whole run so far is the best guess.
    const since =
      first !== undefined && now - first.at > 5_000 ? first : { at: view.startedAt ?? now, settled: 0 };
    const seconds = (now - since.at) / 1000;
    return seconds < RATE_FROM_S ? null : Math.max(0, (settled - since.settled) / seconds);
  }
}

function settledOf(view: BatchView): number {
  return view.manifest.rows - openCount(view.counts);
}

/**
 * Requests over time, from a counter that is looked at now and then. Between two looks the requests are
 * taken as evenly spread, so that slices have one width however often somebody looked.
 */
const KEEP_MS = 10 * 60_000;
const SLICE_MS = 5_000;

export class PaceHistory {
  private looks: { readonly at: number; readonly count: number }[] = [];

  note(count: number, now: number): void {
    const last = this.looks.at(-1);
    // A counter that fell was started anew, with the store's books.
    if (last !== undefined && count < last.count) this.looks = [];
    this.looks.push({ at: now, count });
    const oldest = this.looks.findIndex(({ at }) => now - at <= KEEP_MS);
    // One look before the kept time stays, for the slice at the edge.
    if (oldest > 1) this.looks.splice(0, oldest - 1);
  }

  within(windowMs: number, now: number): number {
    return Math.round(this.countAt(now) - this.countAt(now - windowMs));
  }

  slices(now: number): { sliceMs: number; endsAt: string; requests: number[] } {
    const endsAt = Math.floor(now / SLICE_MS) * SLICE_MS;
    const first = this.looks[0]?.at ?? endsAt;
    const length = Math.ceil(Math.min(KEEP_MS, Math.max(0, endsAt - first)) / SLICE_MS);
    const requests = Array.from({ length }, (_, i) => {
      const end = endsAt - (length - 1 - i) * SLICE_MS;
      return Math.round((this.countAt(end) - this.countAt(end - SLICE_MS)) * 10) / 10;
    });
    return { sliceMs: SLICE_MS, endsAt: isoTime(endsAt), requests };
  }

  private countAt(at: number): number {
    const after = this.looks.findIndex((look) => look.at >= at);
    const right = after < 0 ? this.looks.at(-1) : this.looks[after];
    const left = after <= 0 ? right : this.looks[after - 1];
    if (left === undefined || right === undefined) return 0;
    if (after < 0 || right.at === left.at) return right.count;
    return left.count + ((at - left.at) / (right.at - left.at)) * (right.count - left.count);
  }
}
