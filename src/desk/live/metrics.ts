import { Counter, Gauge, Registry } from 'prom-client';
import type { WaitingWhy } from '../../core/may-send.js';
import type { Op } from '../../core/order.js';
import { TOTAL_OUTCOMES } from '../../core/states.js';
import { allLedgers, type BatchRecord, reading } from '../../ledger/index.js';
import { roundNotes } from '../../rules/approvals.js';

import type { App } from '../../runtime/app.js';
import type { OverviewBoard, Picture } from './overview.js';

/** Of the desk what the figures are made from. */
type Measured = {
  readonly app: App;
  readonly version: string;
  readonly board: Pick<OverviewBoard, 'look'>;
  readonly live: { readonly clients: number };
  readonly notices: { readonly outbox: { waiting(): Promise<number> } };
};

/**
 * What Prometheus asks for, computed from the ledger when it asks: any number of workers on any number of
 * machines are seen through the one truth, and a restarted desk loses no counts.
 */
export async function metricsText(desk: Measured): Promise<string> {
  const picture = await desk.board.look();
  // A registry of its own for every answer: nothing lingers of a realm or state that is gone.
  const family = familiesOf(new Registry());
  fillBatches(family, picture);
  // Of a store that is away the last picture is told, and nothing more is asked.
  const { up } = picture.overview.store;
  const numbers = up ? await numbersOf(desk) : [];
  fillTotals(family, numbers);
  fillRealms(family, picture);
  fillProcesses(family, picture, desk);
  await fillMatters(family, picture, desk);
  await fillSchedules(family, picture, desk);
  return `${await family.registry.metrics()}\n${latencyText(numbers)}`;
}

export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

function fillProcesses({ gauge }: Families, { overview }: Picture, desk: Measured): void {
  const { store, workers } = overview;
  gauge('store_up', '1 while the store answers.', []).set(store.up ? 1 : 0);
  gauge('store_latency_seconds', 'Time of a PING.', []).set((store.latencyMs ?? 0) / 1000);
  gauge('store_used_bytes', 'Memory that the store uses.', []).set(store.usedBytes ?? 0);
  gauge('workers', 'Worker processes that are neither dead nor silent.', []).set(workers.alive);
  const gone = workers.processes.filter(({ state }) => state === 'dead').length;
  gauge('journal_lag_sessions', 'Senders that are gone and whose journals are not merged yet.', []).set(gone);
  gauge('no_worker', '1 while orders wait and no worker runs.', []).set(overview.noWorker ? 1 : 0);
  gauge('desk_live_pages', 'Pages that listen to this desk.', []).set(desk.live.clients);
  gauge('info', 'Version of the desk.', ['version']).set({ version: desk.version }, 1);
}

async function fillMatters({ gauge }: Families, { overview }: Picture, desk: Measured): Promise<void> {
  const matters = gauge('matters', 'What waits for a person, by event.', ['event']);
  for (const { event } of overview.matters) matters.inc({ event });
  const letters = gauge('notices_waiting', 'Notices that are not delivered yet.', []);
  if (overview.store.up) letters.set(await desk.notices.outbox.waiting());
}

async function fillSchedules({ gauge }: Families, { overview }: Picture, { app }: Measured): Promise<void> {
  const outcome = gauge(
    'schedule_outcome',
    'What became of the last time of a schedule: 1 where nobody has to do anything, 0 where somebody has.',
    ['realm', 'rule', 'outcome'],
  );
  for (const { realm, rule, outcome: name, isGood } of overview.schedules)
    outcome.set({ realm, rule, outcome: name }, isGood ? 1 : 0);
  const missed = gauge(
    'schedule_missed',
    'Scheduled times that paid nobody because nothing ran, until a person takes them off the list.',
    ['realm'],
  );
  for (const { realm, times } of overview.missed) missed.set({ realm }, times);
  const round = gauge(
    'schedule_good_round_timestamp_seconds',
    'When every schedule of the realm was last looked at, and no time was without its outcome.',
    ['realm'],
  );
  for (const profile of overview.store.up ? app.config.profiles : []) {
    const at = await roundNotes(app.ledger(profile)).get('good');
    if (at !== null) round.set({ realm: profile.name }, at / 1000);
  }
}

type Numbers = Awaited<ReturnType<typeof numbersOf>>;

/** What was ever counted in each ledger: it falls for no batch that is archived. */
async function numbersOf({ app: { scripts } }: Measured) {
  const ledgers = await allLedgers(scripts);
  return Promise.all(
    ledgers.map(async (ledger) => ({
      realm: ledger.realm.name,
      statuses: await reading.totals.answersByStatus(ledger),
      ...(await reading.totals.readRealmNumbers(ledger)),
    })),
  );
}

type Families = ReturnType<typeof familiesOf>;

function familiesOf(registry: Registry) {
  const options = (name: string, help: string, labelNames: readonly string[]) => ({
    name: `almoner_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  return {
    registry,
    gauge: (...facts: Parameters<typeof options>) => new Gauge<string>(options(...facts)),
    counter: (...facts: Parameters<typeof options>) => new Counter<string>(options(...facts)),
  };
}

/** No standstill: it is known when they go on, and nobody has to do anything. */
const SCHEDULED: readonly WaitingWhy[] = ['start-time', 'quiet'];

function fillBatches({ gauge }: Families, { sums, overview, over }: Picture): void {
  const batches = gauge(
    'batches',
    'Batches by realm and state; `ended` are over, `archived` left the store.',
    ['realm', 'state'],
  );
  const waiting = gauge('orders_waiting', 'Orders that are neither final nor moving, by why.', [
    'realm',
    'why',
  ]);
  const scheduled = gauge(
    'orders_scheduled',
    'Orders that wait for a set time or for the end of quiet hours.',
    ['realm'],
  );
  const missing = gauge('sessions_missing', 'Senders that are silent or dead with orders under way.', [
    'realm',
  ]);
  for (const { realm } of overview.realms) scheduled.set({ realm }, 0);
  for (const { realm, ended, archived } of over) {
    batches.set({ realm, state: 'ended' }, ended);
    batches.set({ realm, state: 'archived' }, archived);
  }
  const sessions = new Map<string, Set<string>>();
  for (const { realm, states, whys, lost } of sums.values()) {
    for (const [state, count] of states) batches.inc({ realm, state }, count);
    for (const [why, count] of whys) {
      waiting.inc({ realm, why }, count);
      if (SCHEDULED.includes(why)) scheduled.inc({ realm }, count);
    }
    sessions.set(realm, new Set([...(sessions.get(realm) ?? []), ...lost]));
  }
  for (const [realm, lost] of sessions) missing.set({ realm }, lost.size);
}

const DIRECTION: Readonly<Record<Op, string>> = { credit: 'given', debit: 'taken', transfer: 'moved' };

function fillTotals({ counter }: Families, numbers: Numbers): void {
  const entered = counter(
    'orders_total',
    'Orders that became paid, refused, exhausted, unknown or a doubt.',
    ['realm', 'state'],
  );
  const left = counter('orders_left_total', 'Orders that were so and are not any more.', ['realm', 'state']);
  const tokens = counter('tokens_total', 'Tokens of paid orders; no currency is the realm’s own.', [
    'realm',
    'currency',
    'direction',
  ]);
  const requests = counter('requests_total', 'Requests made for orders.', ['realm']);
  const retries = counter('retries_total', 'Attempts beyond the first.', ['realm']);
  const limited = counter('rate_limited_total', 'Answers that asked to slow down (429).', ['realm']);
  const answers = counter('answers_total', 'Attempts by status of the answer; - for none.', [
    'realm',
    'status',
  ]);
  for (const { realm, totals: sums, work, statuses } of numbers) {
    requests.inc({ realm }, work.requests);
    retries.inc({ realm }, work.retries);
    limited.inc({ realm }, work.rateLimited);
    for (const [status, count] of Object.entries(statuses)) answers.inc({ realm, status }, Number(count));
    // A series that begins at its first value would lose that one to rate().
    for (const state of TOTAL_OUTCOMES) {
      entered.inc({ realm, state }, 0);
      left.inc({ realm, state }, 0);
    }
    for (const { currency, flows } of sums)
      for (const flow of flows) {
        entered.inc({ realm, state: flow.outcome }, flow.entered);
        left.inc({ realm, state: flow.outcome }, flow.left);
        if (flow.outcome !== 'paid') continue;
        const labels = { realm, currency: currency ?? '', direction: DIRECTION[flow.op] };
        tokens.inc(labels, Number(flow.tokensEntered));
      }
  }
}

function fillRealms({ gauge }: Families, { overview }: Picture): void {
  const allowed = gauge('pace_allowed_per_second', 'Requests allowed, per second.', ['realm']);
  const used = gauge('pace_used_per_second', 'Requests that left, per second of the window.', ['realm']);
  const waiting = gauge('queue_depth', 'Orders that wait for a worker or are being sent.', ['realm']);
  const fill = gauge('window_jobs', 'Orders dispatched to the queue and not settled.', ['realm']);
  const oldest = gauge('oldest_unsettled_seconds', 'Age of the oldest unsettled order.', ['realm']);
  const doubts = gauge('doubts', 'Orders that wait for an operator.', ['realm']);
  const dead = gauge('dead_letters', 'Orders that ended without being paid.', ['realm']);
  const halted = gauge('realm_halted', '1 while the program has halted the realm.', ['realm']);
  const breaker = gauge('breaker_open', '1 while the realm gives no definite answers.', ['realm']);
  const fence = gauge(
    'fence_armed',
    '0 while the store was restarted or rolled back and a person must act.',
    ['realm'],
  );
  for (const card of overview.realms) {
    const { realm, pace } = card;
    if (card.fence !== null) fence.set({ realm }, card.fence.armed || card.fence.reason === null ? 1 : 0);
    const windowMs = pace.allowed?.windowMs ?? 60_000;
    if (pace.allowed !== null) allowed.set({ realm }, (pace.allowed.requests / windowMs) * 1000);
    used.set({ realm }, (pace.used / windowMs) * 1000);
    waiting.set({ realm }, card.waiting);
    fill.set({ realm }, card.queued);
    const since = card.oldestUnsettledAt === null ? Date.now() : Date.parse(card.oldestUnsettledAt);
    oldest.set({ realm }, Math.max(0, (Date.now() - since) / 1000));
    doubts.set({ realm }, card.doubts);
    dead.set({ realm }, card.dead);
    halted.set({ realm }, card.halt === null ? 0 : 1);
    breaker.set({ realm }, card.breakerSince === null ? 0 : 1);
  }
}

/**
 * The ledger counts latencies in buckets of its own; a Prometheus histogram is written from them directly,
 * because prom-client's can only observe one value at a time. A bucket that straddles a bound counts for the
 * next one: latencies are never shown better than they were.
 */
const NAME = 'almoner_request_seconds';
const BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

function latencyText(numbers: Numbers): string {
  const realms = [...new Set(numbers.map(({ realm }) => realm))];
  const of = (wanted: string) =>
    numbers.filter(({ realm }) => realm === wanted).flatMap(({ work }) => work.latency);
  return [
    `# HELP ${NAME} Latency of requests for orders, by realm.`,
    `# TYPE ${NAME} histogram`,
    ...realms.flatMap((realm) => series(realm, of(realm))),
    '',
  ].join('\n');
}

function series(realm: string, buckets: BatchRecord['latency']): string[] {
  const label = `realm="${realm.replaceAll(/[\\"\n]/g, (sign) => (sign === '\n' ? '\\n' : `\\${sign}`))}"`;
  const upTo = (seconds: number) =>
    buckets.reduce((sum, { upToMs, count }) => (upToMs <= seconds * 1000 ? sum + count : sum), 0);
  const count = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  const sum = buckets.reduce((all, bucket) => all + (bucket.upToMs / 1000) * bucket.count, 0);
  return [
    ...BOUNDS_SECONDS.map((bound) => `${NAME}_bucket{le="${bound}",${label}} ${upTo(bound)}`),
    `${NAME}_bucket{le="+Inf",${label}} ${count}`,
    `${NAME}_sum{${label}} ${sum}`,
    `${NAME}_count{${label}} ${count}`,
  ];
}
