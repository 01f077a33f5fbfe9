import { memoizeLast } from '../../core/memoize-last.js';
import { openCount } from '../../core/states.js';
import {
  allLedgers,
  type BatchRef,
  idOfBatch,
  lists,
  type RealmLedger,
  readBatch,
  reading,
  type ScriptClient,
  type StoredBatch,
  storeFacts,
} from '../../ledger/index.js';
import { waitsForApproval } from '../../operations/approvals/approvals.js';
import { isOver } from '../../operations/batches/batch-status.js';
import type { Overview } from '../api/index.js';

/** A batch as a view. While it does not change, it is the same object at every look. */
export type SeenBatch = {
  readonly ref: BatchRef;
  readonly view: StoredBatch;
  /** Orders dispatched and not settled: what is in the queue or being sent. */
  readonly dispatched: number;
};

/**
 * The batches that somebody may have to do with, asked for every second while somebody looks: those that are open, that hold
 * doubts or dead letters, that need an approval, and those that ended last. The ledger tells which changed since the last
 * look, and only those are read again: however many batches have ended, they cost nothing.
 */
export class BatchViews {
  private readonly realms = new Map<string, RealmViews>();
  private last: { readonly parts: readonly (readonly SeenBatch[])[]; readonly all: SeenBatch[] } | null =
    null;
  /** Batches that ended since then are seen, also where there are many. */
  endedSince = Number.POSITIVE_INFINITY;

  constructor(private readonly scripts: ScriptClient) {}

  /** While no batch changes, it is the same list at every look. */
  async list(): Promise<readonly SeenBatch[]> {
    const ledgers = await allLedgers(this.scripts);
    const known = new Set(ledgers.map(({ id }) => id));
    for (const id of this.realms.keys()) if (!known.has(id)) this.realms.delete(id);
    const parts = await Promise.all(
      ledgers.map((ledger) => {
        const views = this.realms.get(ledger.id) ?? new RealmViews(ledger);
        this.realms.set(ledger.id, views);
        return views.look(this.endedSince);
      }),
    );
    const { last } = this;
    const isSame = last?.parts.length === parts.length && last.parts.every((part, at) => part === parts[at]);
    if (last === null || !isSame) this.last = { parts, all: parts.flat() };
    return this.last?.all ?? [];
  }
}

/** Of those that are over. */
const ENDED_SEEN = 20;
const HOUR_MS = 3_600_000;

class RealmViews {
  private batches = new Map<string, SeenBatch>();
  private list: readonly SeenBatch[] | null = null;
  private endedSince = Number.NaN;
  private readonly times = memoizeLast(timesOf);
  private changes = 0;
  private about = '';

  constructor(private readonly ledger: RealmLedger) {}

  async look(endedSince: number): Promise<readonly SeenBatch[]> {
    const { ledger } = this;
    const realm = await reading.realmState.read(ledger);
    const about = JSON.stringify([realm.disarmed ?? realm.halt, realm.era]);
    const since = about === this.about ? this.changes : Number.MAX_SAFE_INTEGER;
    const { changes, numbers } = await lists.changedSince(ledger, since);
    // Another memory of the store, or another reason for all: everything is read anew.
    if (changes < since) {
      this.batches = new Map();
      this.list = null;
      await this.read(await this.wanted(endedSince));
    } else await this.read(await this.refsOf([...numbers, ...(await this.mayHaveOpened())]));
    [this.about, this.changes] = [about, changes];
    if (this.list !== null && this.endedSince === endedSince) return this.list;
    this.endedSince = endedSince;
    this.letGo(endedSince);
    this.list = [...this.batches.values()].sort((one, other) => Number(one.ref.no) - Number(other.ref.no));
    return this.list;
  }

  private async wanted(endedSince: number): Promise<BatchRef[]> {
    const { ledger } = this;
    const waiting = await Promise.all(
      (['open', 'dead', 'doubts', 'asks'] as const).map((list) => lists.batchesIn(ledger, list)),
    );
    const ended = await lists.lastEnded(ledger, ENDED_SEEN, endedSince);
    return [...new Map([...waiting.flat(), ...ended].map((ref) => [ref.no, ref])).values()];
  }

  private async refsOf(numbers: readonly string[]): Promise<BatchRef[]> {
    const { ledger } = this;
    const ids = await Promise.all(numbers.map((no) => idOfBatch(ledger, no)));
    for (const [at, no] of numbers.entries()) if (ids[at] == null) this.drop(no);
    return numbers.flatMap((no, at) => {
      const id = ids[at] ?? null;
      return id === null ? [] : [{ ledger, no, id }];
    });
  }

  private async read(refs: readonly BatchRef[]): Promise<void> {
    for (let first = 0; first < refs.length; first += READ_AT_ONCE)
      await Promise.all(
        refs.slice(first, first + READ_AT_ONCE).map(async (ref) => {
          const [view, dispatched] = await Promise.all([readBatch(ref), reading.progress.dispatched(ref)]);
          if (view === undefined) this.drop(ref.no);
          else this.batches.set(ref.no, { ref, view, dispatched });
          this.list = null;
        }),
      );
  }

  /** What may not begin yet may by now, and an approval may have run out: no change tells of a time. */
  private async mayHaveOpened(): Promise<string[]> {
    const nowMs = Date.now();
    const asks = new Set((await lists.batchesIn(this.ledger, 'asks')).map(({ no }) => no));
    const { ends, asked } = this.times(this.list ?? []);
    const due = ends.filter(({ atMs }) => nowMs >= atMs).map(({ no }) => no);
    const asksNoMore = [...asked].filter((no) => !asks.has(no));
    const asksNow = [...asks].filter((no) => !asked.has(no) && this.batches.has(no));
    return [...new Set([...due, ...asksNoMore, ...asksNow])];
  }

  /** Those that are over and wait for nobody leave, but for the newest. */
  private letGo(endedSince: number): void {
    const over: SeenBatch[] = [];
    for (const one of this.batches.values()) {
      const { view } = one;
      if (isOver(view) && !waitsForSomebody(view) && (view.finishedAt ?? 0) < endedSince) over.push(one);
    }
    over.sort((one, other) => (other.view.finishedAt ?? 0) - (one.view.finishedAt ?? 0));
    for (const { ref } of over.slice(ENDED_SEEN)) this.drop(ref.no);
  }

  private drop(no: string): void {
    this.batches.delete(no);
    this.list = null;
  }
}

const READ_AT_ONCE = 500;

/** When the set times of batches end, and which of them ask for an approval. */
function timesOf(list: readonly SeenBatch[]) {
  const ends: { readonly no: string; readonly atMs: number }[] = [];
  const asked = new Set<string>();
  for (const { ref, view } of list) {
    const { gate, whyNot } = view;
    const startAt = gate?.start?.at ?? null;
    if (startAt !== null && !whyNot.includes('start-missed'))
      ends.push({ no: ref.no, atMs: whyNot.includes('start-time') ? startAt : startAt + HOUR_MS });
    if (waitsForApproval(view)) asked.add(ref.no);
  }
  return { ends, asked };
}

function waitsForSomebody(view: StoredBatch): boolean {
  return (
    reading.unsettled.openDead(view) > 0 ||
    (view.counts.doubt ?? 0) > 0 ||
    view.retry !== null ||
    openCount(view.counts) > 0
  );
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
    if (!(await storeFacts.ping(this.scripts))) return this.down();
    const latencyMs = Math.round((performance.now() - start) * 10) / 10;
    if (this.info === null || start - this.info.at > INFO_EVERY_MS)
      this.info = { at: start, ...(await storeFacts.info(this.scripts)) };
    const { usedBytes, version } = this.info;
    return { ...this.store, up: true, latencyMs, usedBytes, version };
  }

  down(): Overview['store'] {
    return { ...this.store, up: false, latencyMs: null, usedBytes: null, version: null };
  }
}
