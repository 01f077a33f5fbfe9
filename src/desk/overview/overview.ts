import type { RealmProfile } from '../../core/profile.js';
import type { Waiting } from '../../core/waiting.js';
import { type Books, openBooks } from '../../ledger/books.js';
import { readFence } from '../../ledger/fence.js';
import { realmKey } from '../../ledger/keys.js';
import { readPaceState } from '../../ledger/pace-state.js';
import { realmState } from '../../ledger/steering.js';
import type { BatchSummary, Overview } from '../api-types.js';
import type { DeskParts } from '../parts.js';
import type { Tasks } from '../tasks.js';
import { batchSummary } from './batch-summary.js';
import { BatchViews, type SeenBatch } from './batch-views.js';
import { PaceHistory } from './pace-history.js';
import { isForWorkers, realmCard } from './realm-card.js';
import { SettleRates } from './settle-rates.js';
import { StoreHealth } from './store-health.js';

/**
 * The one picture of everything, for the front page, the live line and the metrics. Whoever asks within a
 * moment gets the same picture: ten open tabs ask the store no more often than one.
 */
const SHARED_MS = 500;
const OVER_SHOWN_MAX = 20;
const BATCHES_MAX = 50;

export type ToldBatch = SeenBatch & { readonly waiting: readonly Waiting[] };
export type Picture = { readonly overview: Overview; readonly seen: readonly ToldBatch[] };

export class OverviewBoard {
  private readonly views: BatchViews;
  private readonly rates = new SettleRates();
  private readonly paces = new Map<string, PaceHistory>();
  private readonly health: StoreHealth;
  private taken: { at: number; picture: Promise<Picture> } | null = null;
  private last: Picture | null = null;

  constructor(
    private readonly parts: DeskParts,
    private readonly tasks: Tasks,
  ) {
    this.views = new BatchViews(parts.caller);
    this.health = new StoreHealth(parts.caller.redis, parts.store);
  }

  look(): Promise<Picture> {
    const now = performance.now();
    if (this.taken === null || now - this.taken.at > SHARED_MS)
      this.taken = { at: now, picture: this.take() };
    return this.taken.picture;
  }

  /** Of a batch that is asked for alone. */
  async summaryOf(seen: SeenBatch): Promise<BatchSummary> {
    const [waiting = []] = await this.parts.waiting([seen]);
    return this.summary({ ...seen, waiting });
  }

  async summary({ ref, view, waiting }: ToldBatch): Promise<BatchSummary> {
    const nowMs = Date.now();
    return batchSummary(view, {
      perSecond: this.rates.perSecond(`${ref.books.realm} ${ref.no}`, view, nowMs),
      profile: this.profileOf(ref.books),
      still: await this.parts.standsStill(ref, view),
      waiting,
      nowMs,
    });
  }

  /** A store that is away shows the last picture, and says so. */
  private async take(): Promise<Picture> {
    const store = await this.health.look();
    if (!store.up) return this.withoutStore();
    try {
      this.last = await this.collect(store);
      return this.last;
    } catch (error) {
      this.parts.logger.warn({ err: error }, 'the overview could not be read');
      return this.withoutStore();
    }
  }

  private withoutStore(): Picture {
    const { overview, seen } = this.last ?? { overview: NOTHING, seen: [] };
    const at = new Date().toISOString();
    return { seen, overview: { ...overview, at, store: this.health.down(), tasks: this.tasks.list() } };
  }

  private async collect(store: Overview['store']): Promise<Picture> {
    const [views, processes] = await Promise.all([this.views.list(), this.parts.processes()]);
    const waiting = await this.parts.waiting(views);
    const seen = views.map((view, at) => ({ ...view, waiting: waiting[at] ?? [] }));
    const now = Date.now();
    for (const { ref, view } of seen) this.rates.note(`${ref.books.realm} ${ref.no}`, view, now);
    const realms = await Promise.all(this.realmsOf(seen).map((books) => this.card(books, seen, now)));
    const alive = processes.filter(
      ({ kind, state }) => kind === 'worker' && state !== 'dead' && state !== 'silent',
    ).length;
    const overview: Overview = {
      at: new Date(now).toISOString(),
      store,
      workers: { alive, processes: [...processes] },
      noWorker: alive === 0 && seen.some((batch) => isForWorkers(batch)),
      realms,
      batches: await Promise.all(shown(seen).map((batch) => this.summary(batch))),
      tasks: this.tasks.list().slice(0, 10),
    };
    return { overview, seen };
  }

  /** The configured ones, and those that only the books know while something of theirs is open. */
  private realmsOf(seen: readonly SeenBatch[]): Books[] {
    const configured = this.parts.profiles.map(({ name, baseUrl, realmId, rehearsal }) =>
      openBooks(this.parts.caller, { name, baseUrl, realmId, rehearsal }),
    );
    const known = new Map(configured.map((books) => [books.realm, books]));
    for (const { ref, view } of seen)
      if (!known.has(ref.books.realm) && (view.state === 'running' || !view.manifest.rehearsal))
        known.set(ref.books.realm, ref.books);
    return [...known.values()];
  }

  private async card(books: Books, seen: readonly SeenBatch[], now: number) {
    const profile = this.profileOf(books);
    const batches = seen.filter(({ ref }) => ref.books.realm === books.realm);
    const pace = this.paces.get(books.realm) ?? new PaceHistory();
    this.paces.set(books.realm, pace);
    pace.note(await this.requestsOf(books, profile, batches), now);
    const [state, fence, limits] = await Promise.all([
      realmState(books),
      readFence(books),
      readPaceState(books, profile?.rate ?? null, now),
    ]);
    return realmCard({ owner: books.owner, profile, state, fence, batches, pace, limits, now });
  }

  /** Slots taken, reads included, where the realm has a limit; else what the batches count themselves. */
  private async requestsOf(
    books: Books,
    profile: RealmProfile | undefined,
    batches: readonly SeenBatch[],
  ): Promise<number> {
    if (profile?.rate == null) return batches.reduce((sum, { view }) => sum + view.requests, 0);
    const { caller, realm } = books;
    return Number(await caller.patiently('read pace', () => caller.redis.hget(`${realm}:pace`, 'k')));
  }

  private profileOf(books: Books): RealmProfile | undefined {
    return this.parts.profiles.find((profile) => realmKey(profile) === books.realm);
  }
}

function shown(seen: readonly ToldBatch[]): ToldBatch[] {
  const newest = [...seen].sort((a, b) => b.view.manifest.createdAt - a.view.manifest.createdAt);
  const isOver = ({ view }: SeenBatch) => view.state === 'done' || view.state === 'cancelled';
  const open = newest.filter((batch) => !isOver(batch));
  const over = newest.filter(isOver).slice(0, OVER_SHOWN_MAX);
  return [...open, ...over].slice(0, BATCHES_MAX);
}

const NOTHING: Omit<Overview, 'store'> = {
  at: '',
  workers: { alive: 0, processes: [] },
  noWorker: false,
  realms: [],
  batches: [],
  tasks: [],
};
