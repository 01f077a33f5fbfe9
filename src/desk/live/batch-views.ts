import { LRUCache } from 'lru-cache';
import {
  allLedgers,
  type BatchRef,
  batchStamp,
  lists,
  pingStore,
  type RealmLedger,
  readBatch,
  realmState,
  type ScriptClient,
  type StoredBatch,
  storeInfo,
} from '../../ledger/index.js';
import { isOver } from '../../operations/batches/batch-status.js';
import type { Overview } from '../api/index.js';

/**
 * All batches as views, asked for every second while somebody looks. A batch is read again only when its
 * version, state or realm has changed: a hundred finished batches cost one small question each.
 */
export type SeenBatch = {
  readonly ref: BatchRef;
  readonly view: StoredBatch;
  /** Orders dispatched and not settled: what is in the queue or being sent. */
  readonly dispatched: number;
};

const CACHED_MAX = 2_000;

export class BatchViews {
  private readonly cache = new LRUCache<string, { stamp: string; seen: SeenBatch['view'] }>({
    max: CACHED_MAX,
  });

  constructor(private readonly scripts: ScriptClient) {}

  async list(): Promise<SeenBatch[]> {
    const ledger = await allLedgers(this.scripts);
    return (await Promise.all(ledger.map((one) => this.ofRealm(one)))).flat();
  }

  private async ofRealm(ledger: RealmLedger): Promise<SeenBatch[]> {
    const refs: BatchRef[] = [];
    for await (const ref of lists.newestFirst(ledger)) refs.unshift(ref);
    const realm = await realmState(ledger);
    // A store that was lost counts its versions anew, under the same ids.
    const about = JSON.stringify([realm.disarmed ?? realm.halt, realm.era]);
    const seen = await Promise.all(refs.map((ref) => this.one(ref, about)));
    return seen.filter((each) => each !== null);
  }

  private async one(ref: BatchRef, about: string): Promise<SeenBatch | null> {
    const { stamp: own, dispatched } = await batchStamp(ref);
    const stamp = `${own} ${about}`;
    const key = `${ref.ledger.id} ${ref.no} ${ref.id}`;
    const known = this.cache.get(key);
    // What may not begin yet may by the next look: by the clock, or by what its realm requires.
    const mayOpen = known !== undefined && known.seen.gate !== null && !isOver(known.seen);
    if (known?.stamp === stamp && !mayOpen) return { ref, view: known.seen, dispatched };
    const view = await readBatch(ref);
    if (view === undefined) return null;
    this.cache.set(key, { stamp, seen: view });
    return { ref, view, dispatched };
  }
}

/** Whether the store answers, how fast, and how full it is. A store that hides INFO is no less up. */
const INFO_EVERY_MS = 10_000;

export class StoreHealth {
  private info: { at: number; usedBytes: number | null; version: string | null } | null = null;

  constructor(
    private readonly scripts: ScriptClient,
    private readonly store: { readonly embedded: boolean; readonly address: string },
  ) {}

  async look(): Promise<Overview['store']> {
    const start = performance.now();
    if (!(await pingStore(this.scripts))) return this.down();
    const latencyMs = Math.round((performance.now() - start) * 10) / 10;
    if (this.info === null || start - this.info.at > INFO_EVERY_MS)
      this.info = { at: start, ...(await storeInfo(this.scripts)) };
    const { usedBytes, version } = this.info;
    return { ...this.store, up: true, latencyMs, usedBytes, version };
  }

  down(): Overview['store'] {
    return { ...this.store, up: false, latencyMs: null, usedBytes: null, version: null };
  }
}
