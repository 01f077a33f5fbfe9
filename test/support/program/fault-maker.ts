import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../until.js';
import type { Program } from './program.js';

/** Breaks one thing after the other in a random order from a seed, and counts the faults. */

type Worker = ReturnType<Program['start']>;

export function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

/** Not a fault: it only saves a moment to roll back to later. */
const PHOTOGRAPH = 'store photographed';

export class FaultMaker {
  readonly faults: Record<string, number> = {};
  /** The faults with their times. */
  readonly log: string[] = [];
  private readonly workers: Worker[] = [];
  private readonly hired: Worker[] = [];
  private readonly deck: string[] = [];
  private readonly photographs: (() => Promise<void>)[] = [];

  constructor(
    private readonly world: Program,
    private readonly random: () => number,
    private readonly size: number,
    /** Sometimes longer than BullMQ's lock. */
    private readonly freezeMaxMs: number,
  ) {}

  async begin(): Promise<void> {
    for (let i = 0; i < this.size; i++) this.hire(i);
    // Even the oldest copy of the store must know where the machine's journals lie.
    const { keyPrefix, scripts } = this.world.ledger();
    await until(
      'the workers to be there',
      async () => (await scripts.redis.hlen(`${keyPrefix}:sessions`)) >= this.size,
      60_000,
    );
    this.photographs.push(await this.world.photograph('first'));
  }

  async strike(): Promise<void> {
    const actions = this.actions();
    const name = this.draw(Object.keys(actions));
    if (name !== PHOTOGRAPH) this.faults[name] = (this.faults[name] ?? 0) + 1;
    const at = new Date().toISOString();
    await actions[name]?.();
    this.log.push(`${at} ${new Date().toISOString()} ${name}`);
  }

  /** Repairs everything and restarts missing workers. */
  async relent(): Promise<void> {
    const { storeNet, realmNet } = this.world;
    storeNet.heal();
    realmNet.heal();
    for (let i = 0; i < this.size; i++) if (this.workers[i]?.child.exitCode !== null) this.hire(i);
  }

  /** The last output of the workers, in case one ends by itself. */
  lastWords(): string {
    return this.workers.map(({ stderr }) => stderr().slice(-2_000)).join('\n---\n');
  }

  /** The complete output of all workers. */
  words(): string[] {
    return this.hired.map(({ child, stdout, stderr }) => `pid ${child.pid}\n${stdout()}\n${stderr()}`);
  }

  private actions(): Record<string, () => Promise<void>> {
    const { world } = this;
    const i = Math.floor(this.random() * this.size);
    const shortMs = 50 + Math.floor(this.random() * 700);
    return {
      'worker killed': () => this.end(i, 'SIGKILL'),
      'worker stopped in order': () => this.end(i, 'SIGTERM'),
      'worker frozen': () => this.freeze(i),
      'store killed': async () => {
        await world.store.kill();
        await sleep(shortMs);
        await world.store.restart();
      },
      'store rolled back': async () => {
        const [restore] = this.photographs.splice(Math.floor(this.random() * this.photographs.length), 1);
        await restore?.();
        this.photographs.push(await world.photograph(`p${Math.floor(this.random() * 1e9)}`));
      },
      [PHOTOGRAPH]: async () => {
        this.photographs.push(await world.photograph(`p${Math.floor(this.random() * 1e9)}`));
      },
      'store cut off': () => this.spell(world.storeNet, 'refuse', shortMs),
      'store answers lost': () => this.spell(world.storeNet, 'lose-answers', shortMs),
      'store slow': () => this.slow(world.storeNet, shortMs),
      'realm killed': async () => {
        await world.stopRealm();
        await world.startRealm();
      },
      'realm cut off': () => this.spell(world.realmNet, 'refuse', shortMs),
      'realm answers lost': () => this.spell(world.realmNet, 'lose-answers', shortMs),
      'realm slow': () => this.slow(world.realmNet, shortMs),
    };
  }

  private async spell(
    net: Program['storeNet'],
    mode: 'refuse' | 'lose-answers',
    forMs: number,
  ): Promise<void> {
    net.mode = mode;
    if (mode === 'refuse') net.cut();
    await sleep(forMs);
    net.heal();
  }

  private async slow(net: Program['storeNet'], forMs: number): Promise<void> {
    net.delayMs = 20 + Math.floor(this.random() * 120);
    await sleep(forMs);
    net.delayMs = 0;
  }

  private async end(i: number, signal: NodeJS.Signals): Promise<void> {
    const worker = this.workers[i];
    worker?.child.kill(signal);
    // A worker that stops in order may wait for an unreachable store, so it is replaced without waiting for it.
    await Promise.race([worker?.ended, sleep(3_000)]);
    this.hire(i);
  }

  private async freeze(i: number): Promise<void> {
    const child = this.workers[i]?.child;
    child?.kill('SIGSTOP');
    await sleep(this.random() * this.freezeMaxMs);
    child?.kill('SIGCONT');
  }

  /** Uses two data folders, because journals of one machine may lie in several places. */
  private hire(i: number): void {
    const worker = this.world.start(['worker', '--concurrency', '8'], this.world.envOf(`data-${i % 2}`));
    this.workers[i] = worker;
    this.hired.push(worker);
    this.log.push(`${new Date().toISOString()} worker ${i} is pid ${worker.child.pid}`);
  }

  /** Draws like cards from a shuffled deck, so that even a short run meets each kind of fault about equally often. */
  private draw(names: readonly string[]): string {
    if (this.deck.length === 0) this.deck.push(...names);
    return this.deck.splice(Math.floor(this.random() * this.deck.length), 1)[0] ?? '';
  }
}
