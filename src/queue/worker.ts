import { type Queue, Worker } from 'bullmq';
import type { WriteOutcome } from '../core/classify.js';
import type { AlmonerError } from '../core/errors/error.js';
import { SIGN_EVERY_MS } from '../core/presence.js';
import type { RealmProfile } from '../core/profile.js';
import {
  type BatchRef,
  type OrderRef,
  queuePrefix,
  type RealmLedger,
  reading,
  recovery,
  sending,
} from '../ledger/index.js';
import type { RealmClient } from '../realm/client/client.js';
import { Evidence } from './balances.js';
import { type First, KnownBatches, OwnRun } from './batches.js';
import { Breaker } from './breaker.js';
import { Feeder, feedWindow, usefulConcurrency } from './feed.js';
import { LeftDeliveries, takenBy } from './left-deliveries.js';
import { drainMs, LIMITS, type WorkerLimits } from './limits.js';
import { deliveryTrouble } from './lost-locks.js';
import { Pace } from './pace.js';
import { processJob, Watchdog } from './process-job.js';
import {
  DeadLetters,
  ORDERS_QUEUE,
  type OrderJob,
  openQueue,
  type QueueConnection,
  runQueue,
} from './queues.js';
import { stalledError, unsettledError } from './reasons.js';
import { quietClock, quietly, Rounds } from './rounds.js';
import { OrderSender } from './send-order.js';
import { Sweeper } from './sweep.js';
import { ClockWatch } from './two-clocks.js';

/**
 * Everything that works off one realm in one process: a BullMQ worker, the feeder, the sweeper, the
 * adoption of orphans and the breaker. Every step of each is a conditional script, so any number of workers
 * in any number of processes may do the same at once.
 */
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

export class RealmWorker {
  readonly pace: Pace;
  private readonly queue: Queue<OrderJob>;
  private readonly deadLetters: DeadLetters;
  private readonly feeder: Feeder;
  private readonly sweeper: Sweeper;
  private readonly breaker: Breaker;
  private readonly attempts: sending.Attempts;
  private readonly sender: OrderSender;
  private readonly recovery: recovery.RecoveryWatch;
  private readonly watchdog: Watchdog;
  private readonly limits: WorkerLimits;
  private readonly rounds: Rounds;
  private readonly connections: QueueConnection[] = [];
  private readonly batches: KnownBatches;
  private readonly ownRun: OwnRun | null;
  private readonly clockWatch: ClockWatch;
  private worker: Worker<OrderJob> | undefined;
  private stopping = false;

  private readonly options: RealmWorkerOptions;

  constructor(given: RealmWorkerOptions) {
    const options = { ...given, onTrouble: quietly(given.onTrouble) };
    this.options = options;
    const { ledger, profile, client, session, run } = options;
    const mine = run === null ? sending.WORKERS : { owner: session.id, no: run.no };
    const { owner } = mine;
    this.ownRun = run && new OwnRun({ ...run, ledger }, session.id, options.first ?? null);
    this.limits = { ...LIMITS, ...options.limits };
    const plans = new reading.PlanReader(ledger);
    this.pace = new Pace(ledger, profile, options.onTrouble, session.id);
    const connection = this.connection('queue');
    this.queue = openQueue(ledger, run === null ? ORDERS_QUEUE : runQueue(run.no), connection);
    this.deadLetters = new DeadLetters(ledger, this.connection('dead'));
    this.batches = new KnownBatches(ledger, profile);
    const quietNow = quietClock(profile.quietHours);
    ledger.mark.quietUntil = () => quietNow() ?? 0;
    const mayFeed = (no: string) => this.batches.fit(no);
    const isQuiet = () => quietNow() !== null;
    this.feeder = new Feeder(ledger, this.queue, mine, feedWindow(options), mayFeed, isQuiet);
    this.sweeper = new Sweeper(ledger, this.queue, mine);
    const evidence = new Evidence(ledger, client, this.pace, profile);
    this.clockWatch = new ClockWatch(ledger, profile.settleMs, options.onTrouble);
    const probeMs = Math.min(profile.attempts.backoffMs, PROBE_EVERY_MAX_MS);
    this.breaker = new Breaker(ledger, client, this.pace, probeMs, this.limits.breakerHaltMs);
    const context = { ledger, plans, termsOf: (no: string) => this.batches.termsOf(no) };
    const attempts = new sending.Attempts({
      ledger,
      journal: session.journal,
      session: session.id,
      context,
      refusedMs: this.limits.refusedMs,
      onTrouble: options.onTrouble,
      onFenced: (why) => this.recovery.fenced(why),
      onStray: () => this.recovery.strayed(),
      onSecondPayment: (order) =>
        options.onTrouble(`order ${order} was paid twice, or may have been: see its audit`),
    });
    this.attempts = attempts;
    this.recovery = new recovery.RecoveryWatch({
      ledger,
      context,
      self: { session, attempts },
      patienceMs: this.limits.mergePatienceMs,
      onTrouble: options.onTrouble,
      onLost: (error) => options.onStalled?.(error),
      forget: () => {
        plans.clear();
        this.batches.clear();
      },
      retakeRun: async () => {
        if (attempts.sending().size > 0) this.ownRun?.sent();
        await this.ownRun?.retake();
      },
      onDoubt: (ref, order, currency) => evidence.ofDoubt(ref, order, currency),
      onRecovered: (recovered) => this.goOn(recovered),
    });
    this.watchdog = new Watchdog(this.queue, this.limits.stalledMs, (waiting) => this.giveUp(waiting));
    this.sender = new OrderSender({
      ledger,
      profile,
      client,
      pace: this.pace,
      plans,
      attempts,
      owner,
      batches: this.batches,
      evidence,
      stopping: () => this.stopping,
      onTrouble: options.onTrouble,
      onDead: this.deadLetters.onDead,
      onSettled: ({ member }, outcome) => {
        options.onOutcome?.(outcome);
        this.ownRun?.sent();
        if (outcome.kind === 'paid') this.breaker.remember(member);
      },
    });
    this.rounds = new Rounds(options.onTrouble);
  }

  async start(): Promise<void> {
    const { ledger, session, profile } = this.options;
    await session.register(ledger, profile);
    await this.lookAtStore();
    await this.takeOverQueue();
    await this.batches.lookAll(this.options.run === null ? '' : session.id);
    this.worker = new Worker<OrderJob>(
      this.queue.name,
      (job, token) => this.watchdog.during(() => processJob(job, token, this.sender)),
      {
        connection: this.connection('worker'),
        prefix: queuePrefix(ledger),
        concurrency: usefulConcurrency(this.options),
        name: session.id,
        // A stalled delivery is made again; the ledger says whether there is anything left to do.
        maxStalledCount: 1000,
        lockDuration: this.limits.lockMs,
        stalledInterval: this.limits.lockMs,
        // BullMQ sleeps so long after a failed command, a quarter of a minute unless told, also while it closes.
        runRetryDelay: 500,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      },
    );
    const { onTrouble } = this.options;
    this.worker.on('error', ({ message }) => onTrouble(deliveryTrouble(`worker: ${message}`)));
    this.worker.on('failed', (_, { message }) => onTrouble(deliveryTrouble(`delivery failed: ${message}`)));
    const whileOpen = (step: () => Promise<unknown>) => () =>
      this.recovery.isOpen ? step() : Promise.resolve();
    this.rounds.every(250, 'watch the fence', () => this.lookAtStore());
    this.rounds.every(
      this.pace.limited ? 100 : 25,
      'feed',
      whileOpen(() => this.feeder.tick()),
    );
    this.rounds.every(
      1_000,
      'sweep',
      whileOpen(() => this.sweeper.tick()),
    );
    this.rounds.every(2_000, 'adopt orphans', () => this.recovery.adoptOrphans());
    const left = new LeftDeliveries(ledger, this.queue, session.id);
    this.rounds.every(
      5_000,
      'deliver again what others left',
      whileOpen(async () => this.deliverAgain(await left.sinceLastLook())),
    );
    this.rounds.every(SIGN_EVERY_MS, 'say alive', () => session.sayAlive(ledger));
    this.rounds.every(500, 'probe', () => this.breaker.tick());
    this.rounds.every(1_000, 'watch for a stall', () => this.watchStall());
  }

  /** How many results the ledger has refused so far and not taken. */
  get unsettled(): number {
    return this.attempts.offers.refused;
  }

  /**
   * What is being sent finishes; nothing new begins. A run that is over takes its queue with it. Throws where the store
   * refuses results until the end: the session stays registered for them.
   */
  async stop(over: () => Promise<boolean> = () => Promise.resolve(false)): Promise<void> {
    const { ledger, session, profile } = this.options;
    const { offers } = this.attempts;
    const until = performance.now() + drainMs(this.limits, profile.timeouts.totalMs);
    this.stopping = true;
    offers.hurry();
    try {
      await this.rounds.stop();
      await this.worker?.close();
      const open = await offers.drained(until - performance.now());
      if (open.length > 0) session.stay(ledger);
      if (this.options.run !== null && (await over())) await this.queue.obliterate({ force: true });
      await this.deadLetters.close();
      await this.queue.close();
      await session.deregister(ledger);
      if (open.length > 0) throw unsettledError(profile.name, open);
    } finally {
      offers.end();
      for (const connection of this.connections) connection.disconnect();
    }
  }

  /** A process that finds no other alive need not wait for BullMQ to notice: the queue is filled anew. */
  private async takeOverQueue(): Promise<void> {
    const { ledger, session, run } = this.options;
    const others = (await recovery.listSessions(ledger)).filter(({ id }) => id !== session.id);
    if (others.length > 0 && run === null) return;
    await this.queue.obliterate({ force: true });
    await this.sweeper.all();
  }

  /** The clock first: another server may have another one. */
  private async lookAtStore(): Promise<void> {
    await this.clockWatch.look();
    await this.recovery.tick();
  }

  private async goOn({ rolledBack, adopted, dead }: recovery.Recovered): Promise<void> {
    // Jobs of orders that are due may be lost.
    if (rolledBack) await this.sweeper.all();
    const ids = dead.map(({ id }) => id);
    await this.deliverAgain([...(await takenBy(this.queue, ids)), ...adopted]);
  }

  private async deliverAgain(again: readonly OrderRef[]): Promise<void> {
    for (const no of new Set(again.map((ref) => ref.no)))
      await this.sweeper.again(
        no,
        again.filter((ref) => ref.no === no).map(({ index }) => index),
      );
  }

  private async watchStall(): Promise<void> {
    const idle = !this.recovery.isOpen || this.stopping || (await reading.isHeldBack(this.options.ledger));
    await this.watchdog.tick(idle);
  }

  private giveUp(waiting: number): void {
    this.options.onStalled?.(stalledError(this.options.profile.name, waiting, this.limits.stalledMs));
  }

  private connection(use: string): QueueConnection {
    const connection = this.options.connect(use);
    this.connections.push(connection);
    return connection;
  }
}
