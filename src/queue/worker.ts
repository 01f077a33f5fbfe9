import { Worker } from 'bullmq';
import { SIGN_EVERY_MS } from '../core/presence.js';
import { reading, recovery } from '../ledger/index.js';
import { usefulConcurrency } from './feed.js';
import { LeftDeliveries } from './left-deliveries.js';
import { drainMs } from './limits.js';
import { deliveryTrouble } from './lost-locks.js';
import { processJob } from './process-job.js';
import type { OrderJob } from './queues.js';
import { unsettledError } from './reasons.js';
import { composeWorker, type RealmWorkerOptions, type WorkerParts } from './worker-parts.js';

/**
 * Deliveries under way until the realm has paid a first order. A wrong address or currency refuses every order that is under
 * way when the batch is halted: with a whole window under way, a file of a hundred rows was refused to its end.
 */
const UNPROVEN_MAX = 8;

export function realmWorker(options: RealmWorkerOptions): RealmWorker {
  return new RealmWorker(composeWorker(options));
}

/**
 * Everything that works off one realm in one process: a BullMQ worker, the feeder, the sweeper, the
 * adoption of orphans and the breaker. Every step of each is a conditional script, so any number of workers
 * in any number of processes may do the same at once.
 */
class RealmWorker {
  private worker: Worker<OrderJob> | undefined;

  constructor(private readonly parts: WorkerParts) {}

  async start(): Promise<void> {
    const { options, batches } = this.parts;
    const { ledger, session, profile } = options;
    await session.register(ledger, profile);
    await this.lookAtStore();
    await this.takeOverQueue();
    await batches.lookAll(options.run === null ? '' : session.id);
    this.takeDeliveries();
    this.startRounds();
  }

  private takeDeliveries(): void {
    const { options, queue, limits, watchdog, sender, realm } = this.parts;
    const { ledger, session, onTrouble } = options;
    const concurrency = usefulConcurrency(options);
    const worker = new Worker<OrderJob>(
      queue.name,
      async (job, token) => {
        const result = await watchdog.during(() => processJob(job, token, sender));
        if (realm.hasPaid && worker.concurrency < concurrency) worker.concurrency = concurrency;
        return result;
      },
      {
        connection: this.parts.connection('worker'),
        prefix: ledger.queuePrefix,
        concurrency: Math.min(UNPROVEN_MAX, concurrency),
        name: session.id,
        // A stalled delivery is made again; the ledger says whether there is anything left to do.
        maxStalledCount: 1000,
        lockDuration: limits.lockMs,
        stalledInterval: limits.lockMs,
        // BullMQ sleeps so long after a failed command, a quarter of a minute unless told, also while it closes.
        runRetryDelay: 500,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      },
    );
    worker.on('error', ({ message }) => onTrouble(deliveryTrouble(`worker: ${message}`)));
    worker.on('failed', (_, { message }) => onTrouble(deliveryTrouble(`delivery failed: ${message}`)));
    this.worker = worker;
  }

  private startRounds(): void {
    const { options, queue, rounds, watch, redelivery, pace, feeder, sweeper, breaker } = this.parts;
    const { ledger, session } = options;
    const whileOpen = (step: () => Promise<unknown>) => () => (watch.isOpen ? step() : Promise.resolve());
    const left = new LeftDeliveries(ledger, queue, session.id);
    const feed = whileOpen(() => feeder.tick());
    const sweep = whileOpen(() => sweeper.tick());
    const takeLeft = whileOpen(async () => redelivery.again(await left.sinceLastLook()));
    rounds.every(250, 'watch the fence', () => this.lookAtStore());
    rounds.every(pace.limited ? 100 : 25, 'feed', feed);
    rounds.every(1_000, 'sweep', sweep);
    rounds.every(2_000, 'adopt orphans', () => watch.adoptOrphans());
    rounds.every(5_000, 'deliver again what others left', takeLeft);
    rounds.every(SIGN_EVERY_MS, 'say alive', () => session.sayAlive(ledger));
    rounds.every(500, 'probe', () => breaker.tick());
    rounds.every(1_000, 'watch for a stall', () => this.watchStall());
  }

  /** How many results the ledger has refused so far and not taken. */
  get unsettled(): number {
    return this.parts.attempts.offers.refused;
  }

  /**
   * What is being sent finishes; nothing new begins. A run that is over takes its queue with it. Throws where the store
   * refuses results until the end: the session stays registered for them.
   */
  async stop(over: () => Promise<boolean> = () => Promise.resolve(false)): Promise<void> {
    const { options, attempts, limits, rounds, queue, deadLetters, connections, stop } = this.parts;
    const { ledger, session, profile, run } = options;
    const { offers } = attempts;
    const until = performance.now() + drainMs(limits, profile.timeouts.totalMs);
    stop.begun = true;
    offers.hurry();
    try {
      await rounds.stop();
      await this.worker?.close();
      const open = await offers.drained(until - performance.now());
      if (open.length > 0) session.stay(ledger);
      if (run !== null && (await over())) await queue.obliterate({ force: true });
      await deadLetters.close();
      await queue.close();
      await session.deregister(ledger);
      if (open.length > 0) throw unsettledError(profile.name, open);
    } finally {
      offers.end();
      for (const connection of connections) connection.disconnect();
    }
  }

  /** A process that finds no other alive need not wait for BullMQ to notice: the queue is filled anew. */
  private async takeOverQueue(): Promise<void> {
    const { options, queue, sweeper } = this.parts;
    const { ledger, session, run } = options;
    const others = (await recovery.sessions.list(ledger)).filter(({ id }) => id !== session.id);
    if (others.length > 0 && run === null) return;
    await queue.obliterate({ force: true });
    await sweeper.all();
  }

  /** The clock first: another server may have another one. */
  private async lookAtStore(): Promise<void> {
    await this.parts.clockWatch.look();
    await this.parts.watch.tick();
  }

  private async watchStall(): Promise<void> {
    const { options, watch, stop, watchdog } = this.parts;
    const idle = !watch.isOpen || stop.begun || (await reading.realmState.whyNot(options.ledger)) !== null;
    await watchdog.tick(idle);
  }
}
