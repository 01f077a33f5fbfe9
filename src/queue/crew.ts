import { randomBytes } from 'node:crypto';
import { DelayedError, type Job, type Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { batchId, orderId } from '../core/ids.js';
import type { WriteOutcome } from '../core/outcome.js';
import type { RealmProfile } from '../core/profile.js';
import { type BatchRef, readBatch } from '../ledger/batches.js';
import type { Books } from '../ledger/books.js';
import { batchKeys } from '../ledger/keys.js';
import { PlanReader } from '../ledger/plan-store.js';
import { STATE_CODES } from '../ledger/record.js';
import type { OrderRef, Settled } from '../ledger/sending.js';
import type { Session } from '../ledger/sessions.js';
import type { Manifest } from '../ledger/views.js';
import type { RealmClient } from '../realm/client/client.js';
import { Breaker } from './breaker.js';
import { DeadLetters } from './dead-letters.js';
import type { PlannedOrder } from './delivery.js';
import { Evidence } from './evidence.js';
import { Feeder } from './feeder.js';
import { OrderRunner } from './order-runner.js';
import { Orphans, takenBy } from './orphans.js';
import { Pace } from './pace.js';
import { ORDERS_QUEUE, type OrderJob, openQueue, queuePrefixOf, runQueue } from './queues.js';
import { Readback } from './readback.js';
import { Rounds } from './rounds.js';
import { Sweeper } from './sweeper.js';

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
  private readonly rounds: Rounds;
  private readonly connections: Redis[] = [];
  private readonly manifests = new Map<string, Manifest>();
  private worker: Worker<OrderJob> | undefined;
  private stopping = false;

  constructor(private readonly options: CrewOptions) {
    const { books, profile, client, session, run } = options;
    const owner = run === null ? '' : session.id;
    this.plans = new PlanReader(books);
    this.pace = new Pace(books, profile);
    this.queue = openQueue(books, run === null ? ORDERS_QUEUE : runQueue(run.no), this.connection('queue'));
    this.deadLetters = new DeadLetters(books, this.connection('dead'));
    this.feeder = new Feeder(books, this.queue, owner, windowJobs(options));
    this.sweeper = new Sweeper(books, this.queue, owner);
    const evidence = new Evidence(books, client, this.pace);
    const batchOf = (no: string) => this.batchOf(no);
    this.orphans = new Orphans(books, profile, this.plans, session.id, batchOf, evidence);
    this.breaker = new Breaker(books, client, this.pace, profile.attempts.backoffMs);
    this.runner = new OrderRunner({
      books,
      profile,
      client,
      pace: this.pace,
      plans: this.plans,
      session: session.id,
      owner,
      evidence,
      readback: new Readback(profile, evidence, batchOf),
      manifestOf: (no) => this.manifestOf(no),
      stopping: () => this.stopping,
      newNonce: () => randomBytes(9).toString('base64url'),
      onSettled: (ref, row, settled, outcome) => this.noteSettled(ref, row, settled, outcome),
    });
    this.rounds = new Rounds(options.onTrouble);
  }

  async start(): Promise<void> {
    const { books, session } = this.options;
    await session.register(books);
    await this.recover(true);
    this.worker = new Worker<OrderJob>(this.queue.name, (job, token) => this.deliver(job, token), {
      connection: this.connection('worker'),
      prefix: queuePrefixOf(books),
      concurrency: usefulConcurrency(this.options),
      name: session.id,
      // A stalled delivery is made again; the ledger says whether there is anything left to do.
      maxStalledCount: 1000,
      lockDuration: 30_000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.worker.on('error', (error) => this.options.onTrouble(`worker: ${error.message}`));
    this.worker.on('failed', (_, error) => this.options.onTrouble(`delivery failed: ${error.message}`));
    this.rounds.every(this.pace.limited ? 100 : 25, 'feed', () => this.feeder.tick());
    this.rounds.every(1_000, 'sweep', () => this.sweeper.tick());
    this.rounds.every(2_000, 'adopt orphans', () => this.recover(false));
    this.rounds.every(500, 'probe', () => this.breaker.tick());
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
    const adopted = await this.orphans.adopt(dead);
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

  private async deliver(job: Job<OrderJob>, token: string | undefined): Promise<null> {
    const todo: OrderRef[] = [job.data];
    for (let ref = todo.shift(); ref !== undefined; ref = todo.shift()) {
      if (this.stopping) break;
      const delivered = await this.runner.deliver(ref);
      if ('next' in delivered) todo.push(...delivered.next);
      else if (ref === job.data) {
        // The same job, later: no second job for the same order, and none is lost in between.
        await job.moveToDelayed(Date.now() + Math.ceil(delivered.againInMs), token);
        throw new DelayedError();
      }
    }
    return null;
  }

  private noteSettled(ref: OrderRef, row: PlannedOrder, settled: Settled, outcome: WriteOutcome): void {
    this.options.onOutcome?.(outcome);
    this.breaker.remember(row.order.member);
    if (!settled.settled || !['R', 'X', 'D'].includes(settled.code)) return;
    const manifest = this.manifests.get(ref.no);
    if (manifest === undefined) return;
    this.deadLetters.post(ref, {
      order: orderId(manifest.batch, ref.index),
      batch: manifest.batch,
      line: row.line,
      state: STATE_CODES[settled.code],
      class: outcome.code,
      status: outcome.status,
      message: outcome.message,
      attempts: 1,
    });
  }

  private async manifestOf(no: string): Promise<Manifest> {
    const known = this.manifests.get(no);
    if (known !== undefined) return known;
    const batch = await readBatch(await this.batchOf(no));
    if (batch === undefined) throw new Error(`batch no. ${no} is not sealed`);
    this.manifests.set(no, batch.manifest);
    return batch.manifest;
  }

  private async batchOf(no: string): Promise<BatchRef> {
    const { books } = this.options;
    const id = await books.caller.patiently('find batch', () =>
      books.caller.redis.hget(batchKeys(books.realm, no).meta, 'id'),
    );
    return { books, no, id: batchId(id ?? '') };
  }

  private connection(use: string): Redis {
    const connection = this.options.connect(use);
    this.connections.push(connection);
    return connection;
  }
}

/** About a minute's worth at the pace, at least twice the concurrency, and never more than Redis likes. */
function windowJobs({ profile, concurrency }: CrewOptions): number {
  const perMinute =
    profile.rate === null ? WINDOW_MAX : (profile.rate.requests / profile.rate.windowMs) * 60_000;
  return Math.max(2 * concurrency, Math.min(WINDOW_MAX, Math.ceil(perMinute)));
}

const WINDOW_MAX = 2_000;

/** More deliveries under way than the pace can use would only wait for slots, and waste them on a pause. */
function usefulConcurrency({ profile, concurrency }: CrewOptions): number {
  if (profile.rate === null) return concurrency;
  const perSecond = (profile.rate.requests / profile.rate.windowMs) * 1000;
  return Math.max(1, Math.min(concurrency, 2 + Math.ceil(perSecond * LATENCY_ALLOWED_S)));
}

const LATENCY_ALLOWED_S = 2;
