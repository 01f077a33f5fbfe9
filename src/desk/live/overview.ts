import type { RealmProfile } from '../../core/profile.js';
import type { Waiting } from '../../core/waiting.js';
import {
  ledgerId,
  openLedger,
  type RealmLedger,
  readFence,
  readPaceState,
  realmState,
  slotsEverTaken,
} from '../../ledger/index.js';
import type { BatchSummary, Overview } from '../api/index.js';
import type { DeskDeps } from '../deps.js';
import type { Tasks } from '../tasks.js';
import { BatchViews, type SeenBatch, StoreHealth } from './batch-views.js';
import { PaceHistory } from './pace-history.js';
import { batchSummary, isForWorkers, realmCard } from './realm-card.js';
import { SettleRates } from './settle-rates.js';

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
    private readonly parts: DeskDeps,
    private readonly tasks: Tasks,
  ) {
    this.views = new BatchViews(parts.scripts);
    this.health = new StoreHealth(parts.scripts, parts.store);
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
      perSecond: this.rates.perSecond(`${ref.ledger.id} ${ref.no}`, view, nowMs),
      profile: this.profileOf(ref.ledger),
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
    for (const { ref, view } of seen) this.rates.note(`${ref.ledger.id} ${ref.no}`, view, now);
    const realms = await Promise.all(this.realmsOf(seen).map((ledger) => this.card(ledger, seen, now)));
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
  private realmsOf(seen: readonly SeenBatch[]): RealmLedger[] {
    const configured = this.parts.profiles.map(({ name, baseUrl, realmId, rehearsal }) =>
      openLedger(this.parts.scripts, { name, baseUrl, realmId, rehearsal }),
    );
    const known = new Map(configured.map((ledger) => [ledger.id, ledger]));
    for (const { ref, view } of seen)
      if (!known.has(ref.ledger.id) && (view.state === 'running' || !view.manifest.rehearsal))
        known.set(ref.ledger.id, ref.ledger);
    return [...known.values()];
  }

  private async card(ledger: RealmLedger, seen: readonly SeenBatch[], now: number) {
    const profile = this.profileOf(ledger);
    const batches = seen.filter(({ ref }) => ref.ledger.id === ledger.id);
    const pace = this.paces.get(ledger.id) ?? new PaceHistory();
    this.paces.set(ledger.id, pace);
    pace.note(await this.requestsOf(ledger, profile, batches), now);
    const [state, fence, limits] = await Promise.all([
      realmState(ledger),
      readFence(ledger),
      readPaceState(ledger, profile?.rate ?? null, now),
    ]);
    return realmCard({ owner: ledger.realm, profile, state, fence, batches, pace, limits, now });
  }

  /** Slots taken, reads included, where the realm has a limit; else what the batches count themselves. */
  private async requestsOf(
    ledger: RealmLedger,
    profile: RealmProfile | undefined,
    batches: readonly SeenBatch[],
  ): Promise<number> {
    if (profile?.rate == null) return batches.reduce((sum, { view }) => sum + view.requests, 0);
    return slotsEverTaken(ledger);
  }

  private profileOf(ledger: RealmLedger): RealmProfile | undefined {
    return this.parts.profiles.find((profile) => ledgerId(profile) === ledger.id);
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
