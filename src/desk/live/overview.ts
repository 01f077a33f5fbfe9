import { memoizeLast } from '../../core/memoize-last.js';
import { ONLY_NEWS } from '../../core/notice-events.js';
import { presenceOf } from '../../core/presence.js';
import type { RealmProfile } from '../../core/profile.js';
import type { Waiting } from '../../core/waiting.js';
import {
  allLedgers,
  type BatchRef,
  ledgerId,
  lists,
  type RealmLedger,
  reading,
  recovery,
  type ScriptClient,
  type StoredBatch,
} from '../../ledger/index.js';
import { waitsForApproval } from '../../operations/approvals/approvals.js';
import { isOver, shownHere } from '../../operations/batches/batch-status.js';
import { WaitingOfMany, waitingOf } from '../../operations/batches/waiting.js';
import { Tokens } from '../../operations/people/tokens.js';
import { type MissedOfRealm, missedOfRealms } from '../../operations/rules/missed-counts.js';
import { scheduleRow, scheduleStandings, withoutStore } from '../../operations/rules/standings.js';
import type { ScheduleHealth } from '../../rules/schedule-health.js';
import type { App } from '../../runtime/app.js';
import { holdMsOf } from '../../runtime/config/profiles.js';
import { isoTime } from '../../words/spelling.js';
import type { BatchReply, BatchSummary, Overview, WorkerRow } from '../api/index.js';
import type { Tasks } from '../tasks.js';
import {
  actionsOn,
  batchSummary,
  gateReply,
  manifestReply,
  sealedBatch,
  waitsForRecovery,
} from './batch-reply.js';
import { BatchViews, type SeenBatch, StoreHealth } from './batch-views.js';
import { matterOf, type Standing, Standings, storeAway, type ToldBatch } from './matters.js';
import { PaceHistory, SettleRates } from './rates.js';
import { realmCard } from './realm-card.js';
import { type RealmSums, sumsByLedger, sumsOf } from './sums.js';

const OVER_SHOWN_MAX = 20;
const BATCHES_MAX = 50;

export type PictureTimes = {
  /** Everybody who asks within so long gets the same picture: ten open tabs ask the store no more often than one. */
  readonly sharedMs: number;
  /** What moves by the minute is computed so often. */
  readonly slowMs: number;
};

/** The one picture of everything, for the front page, the live line and the metrics. */
export type Picture = {
  readonly overview: Overview;
  readonly seen: readonly ToldBatch[];
  /** What the seen batches come to, by ledger. */
  readonly sums: ReadonlyMap<string, RealmSums>;
  readonly standings: readonly Standing[];
  /** How many batches of each realm are over: they are counted, and not looked at. */
  readonly over: readonly { readonly realm: string; readonly ended: number; readonly archived: number }[];
};

export class OverviewBoard {
  private readonly views: BatchViews;
  private readonly waiting: WaitingOfMany;
  private readonly rates = new SettleRates();
  private readonly paces = new Map<string, PaceHistory>();
  private readonly health: StoreHealth;
  private readonly standings = new Standings();
  private taken: { at: number; picture: Promise<Picture> } | null = null;
  private last: Picture | null = null;
  private readonly listed = memoizeLast((seen: readonly ToldBatch[]) => ({
    sums: sumsByLedger(seen),
    shown: shown(seen),
    open: ledgersOfOpen(seen),
  }));
  private seen: {
    readonly views: readonly SeenBatch[];
    readonly waiting: readonly Waiting[][];
    readonly seen: readonly ToldBatch[];
  } = { views: [], waiting: [], seen: [] };
  private awaySince: number | null = null;
  private slow = {
    at: Number.NEGATIVE_INFINITY,
    schedules: [] as ScheduleHealth[],
    missed: [] as MissedOfRealm[],
  };

  constructor(
    private readonly app: App,
    private readonly tasks: Tasks,
    private readonly times: PictureTimes,
  ) {
    this.views = new BatchViews(app.scripts);
    this.waiting = new WaitingOfMany(app.config);
    const { embedded, address } = app.store;
    this.health = new StoreHealth(app.scripts, { embedded, address });
  }

  look(): Promise<Picture> {
    const now = performance.now();
    if (this.taken === null || now - this.taken.at > this.times.sharedMs)
      this.taken = { at: now, picture: this.take() };
    return this.taken.picture;
  }

  /** Batches that ended since then are seen until somebody has told of them. */
  seeEndedSince(ms: number): void {
    this.views.endedSince = ms;
  }

  /** One batch with its manifest and the charts of its run: a handful of small reads, whatever its size. */
  async describe(ref: BatchRef): Promise<BatchReply> {
    const view = await sealedBatch(ref);
    const [latency, series, waiting, shown, tokens] = await Promise.all([
      reading.progress.latency(ref),
      reading.progress.series(ref, view),
      waitingOf(ref, this.app.config, view),
      shownHere(ref, view, this.app.config),
      waitsForApproval(view) ? new Tokens(this.app.scripts).list() : [],
    ]);
    const summary = this.summaryAs(shown, { ref, view, dispatched: 0, waiting });
    return {
      summary,
      manifest: manifestReply(view.manifest),
      gate: gateReply(view, tokens),
      latency,
      series: { ...series, slices: series.slices.map((slice) => ({ ...slice, at: isoTime(slice.at) })) },
      waitsForRecovery: waitsForRecovery(shown),
      can: actionsOn(shown),
    };
  }

  /** The summary of a batch that is asked for alone. */
  async summaryOf(seen: SeenBatch): Promise<BatchSummary> {
    const waiting = await waitingOf(seen.ref, this.app.config, seen.view);
    return this.summary({ ...seen, waiting });
  }

  async summary(told: ToldBatch): Promise<BatchSummary> {
    return this.summaryAs(await shownHere(told.ref, told.view, this.app.config), told);
  }

  private summaryAs(shown: StoredBatch, { ref, view, waiting }: ToldBatch): BatchSummary {
    const nowMs = Date.now();
    const batch = `${ref.ledger.id} ${ref.no}`;
    this.rates.note(batch, view, nowMs);
    return batchSummary(shown, {
      perSecond: this.rates.perSecond(batch, view, nowMs),
      profile: this.profileOf(ref.ledger),
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
      this.awaySince = null;
      return this.last;
    } catch (error) {
      this.app.logger.warn({ err: error }, 'the overview could not be read');
      return this.withoutStore();
    }
  }

  private withoutStore(): Picture {
    const { overview, ...known } = this.last ?? {
      overview: NOTHING,
      seen: [],
      sums: new Map<string, RealmSums>(),
      standings: [],
      over: [],
    };
    const now = Date.now();
    this.awaySince ??= now;
    const matters = [storeAway(this.awaySince, null), ...overview.matters];
    const schedules = withoutStore(this.slow.schedules, this.awaySince).map(scheduleRow);
    const told = { store: this.health.down(), matters, schedules, tasks: this.tasks.list() };
    return { ...known, overview: { ...overview, ...told } };
  }

  private async slowly() {
    const at = performance.now();
    if (at - this.slow.at > this.times.slowMs) {
      const [schedules, missed] = await Promise.all([scheduleStandings(this.app), missedOfRealms(this.app)]);
      this.slow = { at, schedules, missed };
    }
    return this.slow;
  }

  private async collect(store: Overview['store']): Promise<Picture> {
    const [views, workers] = await Promise.all([this.views.list(), processes(this.app.scripts)]);
    const seen = this.seenOf(views, await this.waiting.of(views));
    const { sums, shown, open } = this.listed(seen);
    const now = Date.now();
    const realms = await Promise.all(this.realmsOf(open).map((ledger) => this.card(ledger, sums, now)));
    const alive = workers.filter(
      ({ kind, state }) => kind === 'worker' && state !== 'dead' && state !== 'silent',
    ).length;
    const { schedules, missed } = await this.slowly();
    const holdMs = (realm: string) => holdMsOf(this.app.config, realm);
    const standings = this.standings.of(seen, schedules, { nowMs: now, holdMs, realms, missed });
    const overview: Overview = {
      at: new Date(now).toISOString(),
      store,
      workers: { alive, processes: workers },
      noWorker: alive === 0 && [...sums.values()].some(({ needsWorkers }) => needsWorkers),
      realms,
      batches: await Promise.all(shown.map((batch) => this.summary(batch))),
      matters: standings.filter(({ event }) => !ONLY_NEWS.includes(event)).map(matterOf),
      schedules: schedules.map(scheduleRow),
      missed: missed.map(missedReply),
      tasks: this.tasks.list().slice(0, 10),
    };
    return { overview, seen, sums, standings, over: await endedByRealm(this.app.scripts) };
  }

  /** The very list of before, or its very entries, where the view and what waits of it are the same. */
  private seenOf(views: readonly SeenBatch[], waiting: readonly Waiting[][]): readonly ToldBatch[] {
    const before = this.seen;
    if (before.views === views && before.waiting === waiting) return before.seen;
    const isAt = (one: ToldBatch | undefined, at: number) =>
      one?.view === views[at]?.view &&
      one?.dispatched === views[at]?.dispatched &&
      one?.waiting === waiting[at];
    const known = new Map(before.seen.map((one) => [one.view, one]));
    const isSame = before.seen.length === views.length && before.seen.every(isAt);
    const seen = isSame
      ? before.seen
      : views.map((one, at): ToldBatch => {
          const same = known.get(one.view);
          return same !== undefined && isAt(same, at) ? same : { ...one, waiting: waiting[at] ?? [] };
        });
    this.seen = { views, waiting, seen };
    return seen;
  }

  /** The configured realms, and those that only the books know while something of theirs is open. */
  private realmsOf(open: readonly RealmLedger[]): RealmLedger[] {
    const configured = this.app.config.profiles.map((profile) => this.app.ledger(profile));
    const known = new Map(configured.map((ledger) => [ledger.id, ledger]));
    for (const ledger of open) if (!known.has(ledger.id)) known.set(ledger.id, ledger);
    return [...known.values()];
  }

  private async card(ledger: RealmLedger, all: Picture['sums'], now: number) {
    const profile = this.profileOf(ledger);
    const sums = all.get(ledger.id) ?? sumsOf([]);
    const pace = this.paces.get(ledger.id) ?? new PaceHistory();
    this.paces.set(ledger.id, pace);
    return realmCard(ledger, { profile, sums, pace, now });
  }

  private profileOf(ledger: RealmLedger): RealmProfile | undefined {
    return this.app.config.profiles.find((profile) => ledgerId(profile) === ledger.id);
  }
}

function missedReply({ realm, times, since, rules }: MissedOfRealm): Overview['missed'][number] {
  return {
    realm,
    times,
    since: isoTime(since),
    rules: rules.map(({ rule, times: of, older }) => ({ rule, times: of + older })),
  };
}

async function endedByRealm(scripts: ScriptClient): Promise<Picture['over']> {
  const ledgers = await allLedgers(scripts);
  return Promise.all(
    ledgers.map(async (ledger) => ({ realm: ledger.realm.name, ...(await lists.countEnded(ledger)) })),
  );
}

/** Every sending process that gave a sign in any realm. */
async function processes(scripts: ScriptClient): Promise<WorkerRow[]> {
  const found = new Map<string, WorkerRow>();
  for (const ledger of await allLedgers(scripts)) {
    const { nowMs, signs } = await recovery.sessions.signs(ledger);
    for (const sign of signs) {
      const { session, kind, machine, life } = sign;
      const known = found.get(session);
      const presence = presenceOf(sign, nowMs);
      const isUnheard = presence === 'silent' || presence === 'frozen';
      // One that is heard in any realm is not silent.
      const state = isUnheard ? (known?.state ?? 'silent') : life;
      const realms = [...(known?.realms ?? []), ledger.realm.name];
      found.set(session, { session, kind, machine, state, realms });
    }
  }
  return [...found.values()];
}

function ledgersOfOpen(seen: readonly SeenBatch[]): RealmLedger[] {
  const known = new Map<string, RealmLedger>();
  for (const { ref, view } of seen)
    if (view.state === 'running' || !view.manifest.rehearsal) known.set(ref.ledger.id, ref.ledger);
  return [...known.values()];
}

function shown(seen: readonly ToldBatch[]): ToldBatch[] {
  const newest = [...seen].sort((a, b) => b.view.manifest.createdAt - a.view.manifest.createdAt);
  const open = newest.filter(({ view }) => !isOver(view));
  const over = newest.filter(({ view }) => isOver(view)).slice(0, OVER_SHOWN_MAX);
  return [...open, ...over].slice(0, BATCHES_MAX);
}

const NOTHING: Omit<Overview, 'store'> = {
  at: new Date(0).toISOString(),
  workers: { alive: 0, processes: [] },
  noWorker: false,
  realms: [],
  batches: [],
  matters: [],
  schedules: [],
  missed: [],
  tasks: [],
};
