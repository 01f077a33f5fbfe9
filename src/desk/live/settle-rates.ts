import { LRUCache } from 'lru-cache';
import { openCount } from '../../core/states.js';
import type { BatchView } from '../../ledger/index.js';

/** How many orders a batch settles per second of late, from what was seen in the last minute. */
const WINDOW_MS = 60_000;
const BATCHES_MAX = 500;

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
    return seconds <= 0 ? null : Math.max(0, (settled - since.settled) / seconds);
  }
}

export function openOf({ counts }: BatchView): number {
  return openCount(counts);
}

function settledOf(view: BatchView): number {
  return view.manifest.rows - openOf(view);
}
