import type { Queue } from 'bullmq';
import type { WriteOutcome } from '../core/classify.js';
import type { AlmonerError } from '../core/errors/error.js';
import type { RealmProfile } from '../core/profile.js';
import {
  type BatchRef,
  type OrderRef,
  type RealmLedger,
  reading,
  recovery,
  sending,
} from '../ledger/index.js';
import type { RealmClient } from '../realm/client/client.js';
import { Evidence } from './balances.js';
import { type First, KnownBatches, OwnRun } from './batches.js';
import { Breaker } from './breaker.js';
import { Feeder, feedWindow } from './feed.js';
import { takenBy } from './left-deliveries.js';
import { LIMITS, type WorkerLimits } from './limits.js';
import { Pace } from './pace.js';
import { Watchdog } from './process-job.js';
import {
  DeadLetters,
  ORDERS_QUEUE,
  type OrderJob,
  openQueue,
  type QueueConnection,
  runQueue,
} from './queues.js';
import { stalledError } from './reasons.js';
import { quietClock, quietly, Rounds } from './rounds.js';
import { OrderSender } from './send-order.js';
import { Sweeper } from './sweep.js';
import { ClockWatch } from './two-clocks.js';

export type RealmWorkerOptions = {
  readonly ledger: RealmLedger;
  readonly profile: RealmProfile;
  readonly client: RealmClient;
  readonly session: recovery.Session;
  /** The batch this process works itself, or null for the imported batches of the realm. */
  readonly run: BatchRef | null;
  /** How many orders of it this process may send; null for all. */
  readonly first?: First | null;
  readonly concurrency: number;
  readonly connect: (use: string) => QueueConnection;
  readonly onTrouble: (message: string) => void;
  readonly onOutcome?: (outcome: WriteOutcome) => void;
  /** The process does not take work although there is some; only a new one would. */
  readonly onStalled?: (error: AlmonerError) => void;
  readonly limits?: Partial<WorkerLimits>;
};

/** However slowly orders are tried again: a realm that is back should not wait to be found. */
const PROBE_EVERY_MAX_MS = 5_000;

export type WorkerParts = ReturnType<typeof composeWorker>;

/** Makes everything that works off one realm in one process, and joins it. Nothing of it runs yet. */
export function composeWorker(given: RealmWorkerOptions) {
  const options = { ...given, onTrouble: quietly(given.onTrouble) };
  const base = baseOf(options);
  const { ledger, profile, client } = options;
  const { limits, queue, pace } = base;
  const feeder = feederOf(options, base);
  const evidence = new Evidence(ledger, client, pace, profile);
  const clockWatch = new ClockWatch(ledger, profile.settleMs, options.onTrouble);
  const probeEveryMs = Math.min(profile.attempts.backoffMs, PROBE_EVERY_MAX_MS);
  const breaker = new Breaker(ledger, client, pace, { probeEveryMs, haltAfterMs: limits.breakerHaltMs });
  const redelivery = new Redelivery(queue, base.sweeper);
  const { attempts, watch } = recoveryOf(options, base, evidence, redelivery);
  const watchdog = new Watchdog(queue, limits.stalledMs, (waiting) =>
    options.onStalled?.(stalledError(profile.name, waiting, limits.stalledMs)),
  );
  const sender = senderOf(options, base, { evidence, breaker, attempts });
  const rounds = new Rounds(options.onTrouble);
  return {
    ...base,
    options,
    feeder,
    clockWatch,
    breaker,
    redelivery,
    attempts,
    watch,
    watchdog,
    sender,
    rounds,
  };
}

type Base = ReturnType<typeof baseOf>;

/** The queue and the batches, on which the other parts rest. */
function baseOf({ ledger, profile, session, run, ...options }: RealmWorkerOptions) {
  const mine: sending.Deliverer =
    run === null ? sending.deliveries.workers : { owner: session.id, no: run.no };
  const connections: QueueConnection[] = [];
  const connection = (use: string): QueueConnection => {
    const opened = options.connect(use);
    connections.push(opened);
    return opened;
  };
  const queue = openQueue<OrderJob>(
    ledger,
    run === null ? ORDERS_QUEUE : runQueue(run.no),
    connection('queue'),
  );
  return {
    mine,
    limits: { ...LIMITS, ...options.limits },
    ownRun: run && new OwnRun({ ...run, ledger }, session.id, options.first ?? null),
    plans: new reading.PlanReader(ledger),
    pace: new Pace(ledger, profile, options.onTrouble, session.id),
    connections,
    connection,
    queue,
    deadLetters: new DeadLetters(ledger, connection('dead')),
    batches: new KnownBatches(ledger, profile),
    sweeper: new Sweeper(ledger, queue, mine),
    /** Set once the worker stops: what is being sent finishes, and nothing new begins. */
    stop: { begun: false },
    /** Whether the realm has paid an order of this process. */
    realm: { hasPaid: false },
  };
}

function feederOf(options: RealmWorkerOptions, { queue, mine, batches }: Base): Feeder {
  const { ledger, profile } = options;
  const quietNow = quietClock(profile.quietHours);
  ledger.mark.quietUntil = () => quietNow() ?? 0;
  return new Feeder({
    ledger,
    queue,
    mine,
    window: feedWindow(options),
    mayFeed: (no) => batches.fit(no),
    isQuiet: () => quietNow() !== null,
  });
}

/** The attempts of this process, and the watch over the store that fences and heals them. */
function recoveryOf(options: RealmWorkerOptions, base: Base, evidence: Evidence, redelivery: Redelivery) {
  const { ledger, session } = options;
  const { plans, batches, limits, ownRun } = base;
  const context = { ledger, plans, termsOf: (no: string) => batches.termsOf(no) };
  const attempts: sending.Attempts = new sending.Attempts({
    ledger,
    journal: session.journal,
    session: session.id,
    context,
    refusedMs: limits.refusedMs,
    onTrouble: options.onTrouble,
    onFenced: (why) => watch.fenced(why),
    onStray: () => watch.strayed(),
    onSecondPayment: (order) =>
      options.onTrouble(`order ${order} was paid twice, or may have been: see its audit`),
  });
  const watch: recovery.RecoveryWatch = new recovery.RecoveryWatch({
    ledger,
    context,
    self: { session, attempts },
    patienceMs: limits.mergePatienceMs,
    onTrouble: options.onTrouble,
    onLost: (error) => options.onStalled?.(error),
    forget: () => {
      plans.clear();
      batches.clear();
    },
    retakeRun: async () => {
      if (attempts.sending().size > 0) ownRun?.sent();
      await ownRun?.retake();
    },
    onDoubt: (ref, order, currency) => evidence.ofDoubt(ref, order, currency),
    onRecovered: (recovered) => redelivery.afterRecovery(recovered),
  });
  return { attempts, watch };
}

function senderOf(
  { ledger, profile, client, onTrouble, onOutcome }: RealmWorkerOptions,
  { pace, plans, mine, batches, deadLetters, ownRun, stop, realm }: Base,
  { evidence, breaker, attempts }: { evidence: Evidence; breaker: Breaker; attempts: sending.Attempts },
): OrderSender {
  return new OrderSender({
    ledger,
    profile,
    client,
    pace,
    plans,
    attempts,
    owner: mine.owner,
    batches,
    evidence,
    stopping: () => stop.begun,
    onTrouble,
    onDead: deadLetters.onDead,
    onSettled: ({ member }, outcome) => {
      onOutcome?.(outcome);
      ownRun?.sent();
      if (outcome.kind !== 'paid') return;
      realm.hasPaid = true;
      breaker.remember(member);
    },
  });
}

/** Delivers orders again whose jobs may be lost. */
class Redelivery {
  constructor(
    private readonly queue: Queue<OrderJob>,
    private readonly sweeper: Sweeper,
  ) {}

  async afterRecovery({ rolledBack, adopted, dead }: recovery.Recovered): Promise<void> {
    // Jobs of orders that are due may be lost.
    if (rolledBack) await this.sweeper.all();
    const ids = dead.map(({ id }) => id);
    await this.again([...(await takenBy(this.queue, ids)), ...adopted]);
  }

  async again(orders: readonly OrderRef[]): Promise<void> {
    for (const no of new Set(orders.map((ref) => ref.no)))
      await this.sweeper.again(
        no,
        orders.filter((ref) => ref.no === no).map(({ index }) => index),
      );
  }
}
