import { type Job, type Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { AlmonerError } from '../core/errors/error.js';
import { orderId } from '../core/ids.js';
import type { WriteOutcome } from '../core/outcome.js';
import type { RealmProfile } from '../core/profile.js';
import { type BatchRef, readBatch } from '../ledger/batches.js';
import type { Books } from '../ledger/books.js';
import { newNonce } from '../ledger/caller.js';
import { Door } from '../ledger/door.js';
import { PlanReader } from '../ledger/plan-store.js';
import { STATE_CODES } from '../ledger/record.js';
import type { OrderRef } from '../ledger/sending.js';
import type { Session } from '../ledger/sessions.js';
import type { Settled } from '../ledger/settling.js';
import { realmState, resumeBatch } from '../ledger/steering.js';
import type { RealmClient } from '../realm/client/client.js';
import { BalanceWatch } from './balance-watch.js';
import { Breaker } from './breaker.js';
import { carryOut } from './carry-out.js';
import { CREW_LIMITS, type CrewLimits, feedWindow, usefulConcurrency } from './crew-limits.js';
import { DeadLetters } from './dead-letters.js';
import { OVER, type PlannedOrder } from './delivery.js';
import { Evidence } from './evidence.js';
import { Feeder } from './feeder.js';
import { KnownBatches } from './known-batches.js';
import { OrderRunner } from './order-runner.js';
import { Orphans, takenBy } from './orphans.js';
import { Pace } from './pace.js';
import { ORDERS_QUEUE, type OrderJob, openQueue, queuePrefixOf, runQueue } from './queues.js';
import { quietly } from './quiet.js';
import { Readback } from './readback.js';
import { Recovery } from './recovery.js';
import { Rounds } from './rounds.js';
import { Sweeper } from './sweeper.js';
import { storeClock, TwoClocks } from './two-clocks.js';
import { Watchdog } from './watchdog.js';

/**
 * Everything that works off one realm in one process: a BullMQ worker, the feeder, the sweeper, the
 * adoption of orphans and the breaker. Every step of each is a conditional script, so any number of crews
 * in any number of processes may do the same at once.
 */
export type CrewOptions = {
  readonly books: Books;
  readonly profile: RealmProfile;
  readonly client: RealmClient;
  readonly session: Session;
  /** The batch this process works itself, or null for the imported batches of the realm. */
  readonly run: BatchRef | null;
  readonly concurrency: number;
  readonly connect: (use: string) => Redis;
  readonly onTrouble: (message: string) => void;
  readonly onOutcome?: (outcome: WriteOutcome) => void;
  /** The process does not take work although there is some; only a new one would. */
  readonly onStalled?: (error: AlmonerError) => void;
  readonly limits?: Partial<CrewLimits>;
};

export class Crew {
  readonly pace: Pace;
  private readonly plans: PlanReader;
  private readonly queue: Queue<OrderJob>;
  private readonly deadLetters: DeadLetters;
  private readonly feeder: Feeder;
  private readonly sweeper: Sweeper;
  private readonly orphans: Orphans;
  private readonly breaker: Breaker;
  private readonly runner: OrderRunner;
  private readonly recovery: Recovery;
  private readonly watchdog: Watchdog;
  private readonly limits: CrewLimits;
  private readonly rounds: Rounds;
  private readonly connections: Redis[] = [];
  private readonly batches: KnownBatches;
  private worker: Worker<OrderJob> | undefined;
  private stopping = false;

  private readonly options: CrewOptions;

  constructor(given: CrewOptions) {
    const options = { ...given, onTrouble: quietly(given.onTrouble) };
    this.options = options;
    const { books, profile, client, session, run } = options;
    const owner = run === null ? '' : session.id;
    this.limits = { ...CREW_LIMITS, ...options.limits };
    this.plans = new PlanReader(books);
    this.pace = new Pace(books, profile, options.onTrouble);
    this.queue = openQueue(books, run === null ? ORDERS_QUEUE : runQueue(run.no), this.connection('queue'));
    this.deadLetters = new DeadLetters(books, this.connection('dead'));
    this.feeder = new Feeder(books, this.queue, owner, feedWindow(options));
    this.sweeper = new Sweeper(books, this.queue, owner);
    const evidence = new Evidence(books, client, this.pace);
    this.batches = new KnownBatches(books);
    const batchOf = (no: string) => this.batches.ref(no);
    const clocks = new TwoClocks(storeClock(books));
    this.orphans = new Orphans(books, profile, this.plans, session.id, batchOf, evidence);
    this.breaker = new Breaker(books, client, this.pace, profile.attempts.backoffMs);
    const door: Door = new Door({
      books,
      journal: session.journal,
      session: session.id,
      plans: this.plans,
      certainty: profile.certainty,
      onFenced: () => this.recovery.fenced(),
    });
    this.recovery = new Recovery({
      books,
      session,
      door,
      patienceMs: this.limits.mergePatienceMs,
      onTrouble: options.onTrouble,
      forget: () => {
        this.plans.clear();
        this.batches.clear();
      },
      retakeRun: () => this.retakeRun(),
      adopt: async (dead, merged) => {
        await this.orphans.adopt(dead, merged);
      },
      onArmed: (rolledBack) => this.goOn(rolledBack),
    });
    this.watchdog = new Watchdog(this.queue, this.limits.stalledMs, (waiting) => this.giveUp(waiting));
    this.runner = new OrderRunner({
      books,
      profile,
      client,
      pace: this.pace,
      plans: this.plans,
      door,
      owner,
      evidence,
      readback: new Readback(profile, evidence, batchOf, clocks, new BalanceWatch(books, options.onTrouble)),
      clocks,
      manifestOf: (no) => this.batches.manifest(no),
      stopping: () => this.stopping,
      newNonce,
      onSettled: (...settled) => this.noteSettled(...settled),
    });
    this.rounds = new Rounds(options.onTrouble);
  }

  async start(): Promise<void> {
    const { books, session } = this.options;
    await session.register(books);
    await this.recovery.tick();
    await this.recover(true);
    this.worker = new Worker<OrderJob>(this.queue.name, (job, token) => this.deliver(job, token), {
      connection: this.connection('worker'),
      prefix: queuePrefixOf(books),
      concurrency: usefulConcurrency(this.options),
      name: session.id,
      // A stalled delivery is made again; the ledger says whether there is anything left to do.
      maxStalledCount: 1000,
      lockDuration: this.limits.lockMs,
      stalledInterval: this.limits.lockMs,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.worker.on('error', (error) => this.options.onTrouble(`worker: ${error.message}`));
    this.worker.on('failed', (_, error) => this.options.onTrouble(`delivery failed: ${error.message}`));
    const whileArmed = (step: () => Promise<unknown>) => () =>
      this.recovery.isArmed ? step() : Promise.resolve();
    this.rounds.every(250, 'watch the fence', () => this.recovery.tick());
    this.rounds.every(
      this.pace.limited ? 100 : 25,
      'feed',
      whileArmed(() => this.feeder.tick()),
    );
    this.rounds.every(
      1_000,
      'sweep',
      whileArmed(() => this.sweeper.tick()),
    );
    this.rounds.every(
      2_000,
      'adopt orphans',
      whileArmed(() => this.recover(false)),
    );
    this.rounds.every(500, 'probe', () => this.breaker.tick());
    this.rounds.every(1_000, 'watch for a stall', () => this.watchStall());
  }

  /** What is being sent finishes; nothing new begins. A run that is over takes its queue with it. */
  async stop(over: () => Promise<boolean> = () => Promise.resolve(false)): Promise<void> {
    this.stopping = true;
    await this.rounds.stop();
    await this.worker?.close();
    if (this.options.run !== null && (await over())) await this.queue.obliterate({ force: true });
    await this.deadLetters.close();
    await this.queue.close();
    await this.options.session.deregister(this.options.books);
    for (const connection of this.connections) connection.disconnect();
  }

  private async recover(starting: boolean): Promise<void> {
    const { dead, others } = await this.orphans.deadSessions();
    const alone = starting && (others.length === 0 || this.options.run !== null);
    const taken = alone ? [] : await takenBy(this.queue, dead);
    const merged = this.recovery.isArmed ? await this.recovery.mergeEnded(dead) : new Set<string>();
    // While disarmed, a dead session whose journal is not here must stay in the registry: it is missing.
    const adopted = this.recovery.isArmed ? await this.orphans.adopt(dead, merged) : [];
    if (alone) {
      await this.queue.obliterate({ force: true });
      await this.sweeper.all();
      return;
    }
    const again = [...taken, ...adopted];
    for (const no of new Set(again.map((ref) => ref.no)))
      await this.sweeper.again(
        no,
        again.filter((ref) => ref.no === no).map(({ index }) => index),
      );
  }

  /** The store came back with an earlier past: a run makes its batch its own again, before anybody else does. */
  private async retakeRun(): Promise<void> {
    const { run, books, session } = this.options;
    if (run === null) return;
    const batch = await readBatch(run);
    if (batch === undefined || batch.owner === session.id || batch.manifest.batch !== run.id) return;
    const interrupted = batch.state === 'paused' && batch.reason?.code === 'ALM_BATCH_INTERRUPTED';
    if (batch.state === 'running' || batch.state === 'planned' || interrupted)
      await resumeBatch(books, run.no, null, { owner: session.id });
  }

  private async goOn(rolledBack: boolean): Promise<void> {
    // Jobs of orders that are due may be lost.
    if (rolledBack) await this.sweeper.all();
  }

  private async watchStall(): Promise<void> {
    const { halt, breakerSince } = await realmState(this.options.books);
    const idle = !this.recovery.isArmed || this.stopping || halt !== null || breakerSince !== null;
    await this.watchdog.tick(idle);
  }

  private giveUp(waiting: number): void {
    this.options.onStalled?.(
      new AlmonerError(
        'ALM_LEDGER_STALLED',
        `${waiting} orders of realm ${this.options.profile.name} wait, the store answers, and this process has taken none for ${Math.round(this.limits.stalledMs / 1000)} s. Nothing is being sent by it; it ends.`,
      ),
    );
  }

  private deliver(job: Job<OrderJob>, token: string | undefined): Promise<null> {
    return this.watchdog.during(() =>
      carryOut(job, token, (ref) => (this.stopping ? Promise.resolve(OVER) : this.runner.deliver(ref))),
    );
  }

  private noteSettled(
    ref: OrderRef,
    row: PlannedOrder,
    settled: Settled,
    outcome: WriteOutcome,
    attempts: number,
  ): void {
    this.options.onOutcome?.(outcome);
    this.breaker.remember(row.order.member);
    if (!settled.settled || !['R', 'X', 'D'].includes(settled.code)) return;
    const manifest = this.batches.known(ref.no);
    if (manifest === undefined) return;
    this.deadLetters.post(ref, {
      order: orderId(manifest.batch, ref.index),
      batch: manifest.batch,
      line: row.line,
      state: STATE_CODES[settled.code],
      class: outcome.code,
      status: outcome.status,
      message: outcome.message,
      attempts,
    });
  }

  private connection(use: string): Redis {
    const connection = this.options.connect(use);
    this.connections.push(connection);
    return connection;
  }
}
