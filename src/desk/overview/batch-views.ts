import { LRUCache } from 'lru-cache';
import { type BatchRef, listBatches, readBatch } from '../../ledger/batches.js';
import { allBooks, type Books } from '../../ledger/books.js';
import type { Caller } from '../../ledger/caller.js';
import { batchKeys } from '../../ledger/keys.js';
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

  constructor(private readonly caller: Caller) {}

  async list(): Promise<SeenBatch[]> {
    const books = await allBooks(this.caller);
    return (await Promise.all(books.map((one) => this.ofRealm(one)))).flat();
  }

  private async ofRealm(books: Books): Promise<SeenBatch[]> {
    const [refs, realm] = await Promise.all([listBatches(books), realmState(books)]);
    const halt = JSON.stringify(realm.halt);
    const seen = await Promise.all(refs.map((ref) => this.one(ref, halt)));
    return seen.filter((each) => each !== null);
  }

  private async one(ref: BatchRef, halt: string): Promise<SeenBatch | null> {
    const { caller, realm } = ref.books;
    const keys = batchKeys(realm, ref.no);
    const [facts, dispatched] = await caller.patiently('list batches', () =>
      Promise.all([
        caller.redis.hmget(keys.meta, 'version', 'state', 'reason', 'owner', 'startedAt'),
        caller.redis.zcard(keys.due),
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
