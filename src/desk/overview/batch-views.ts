import { LRUCache } from 'lru-cache';
import { type BatchRef, listBatches, readBatch } from '../../ledger/batches.js';
import { batchKeys } from '../../ledger/keys.js';
import { allLedgers, type RealmLedger } from '../../ledger/realm-ledger.js';
import type { ScriptClient } from '../../ledger/script-client.js';
import { realmState } from '../../ledger/steering.js';
import type { BatchView } from '../../ledger/views.js';

/**
 * All batches as views, asked for every second while somebody looks. A batch is read again only when its
 * version, state or realm has changed: a hundred finished batches cost one small question each.
 */
export type SeenBatch = {
  readonly ref: BatchRef;
  readonly view: BatchView & { readonly version: number; readonly owner: string };
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
    const [refs, realm] = await Promise.all([listBatches(ledger), realmState(ledger)]);
    const halt = JSON.stringify(realm.halt);
    const seen = await Promise.all(refs.map((ref) => this.one(ref, halt)));
    return seen.filter((each) => each !== null);
  }

  private async one(ref: BatchRef, halt: string): Promise<SeenBatch | null> {
    const { scripts, keyPrefix } = ref.ledger;
    const keys = batchKeys(keyPrefix, ref.no);
    const [facts, dispatched] = await scripts.retryWhileAway('list batches', () =>
      Promise.all([
        scripts.redis.hmget(keys.meta, 'version', 'state', 'reason', 'owner', 'startedAt'),
        scripts.redis.zcard(keys.due),
      ]),
    );
    const stamp = JSON.stringify([facts, halt]);
    const known = this.cache.get(keys.meta);
    if (known?.stamp === stamp) return { ref, view: known.seen, dispatched };
    const view = await readBatch(ref);
    if (view === undefined) return null;
    this.cache.set(keys.meta, { stamp, seen: view });
    return { ref, view, dispatched };
  }
}
