import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { type OrderId, orderId } from '../../src/core/ids.js';
import { JOURNAL_FOLDER } from '../../src/ledger/read/session-list.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { Clocks } from './clocks.js';
import { firstFile } from './files.js';
import type { Preview } from './intake.js';
import { damageJournal } from './journal-tail.js';
import { Machine, on } from './machine.js';
import type { Move, Plan } from './moves.js';
import { Operator } from './operator.js';
import { approve, type Exported } from './people.js';
import { Process, SMOOTHLY } from './process.js';
import { KEY_LIFETIME_MS, Realm, SETTLE_MS } from './realm.js';
import { Requests } from './requests.js';
import type { File, Row } from './sheet.js';
import { Store } from './store.js';
import { Unmerged } from './unmerged.js';
import type { World } from './wiring.js';

/** The current state of everything that takes part in a history. */

type Photograph = {
  readonly restore: (sameServer: boolean) => Promise<void>;
  /** How many requests had left at that moment. */
  readonly sent: number;
  /** The sessions and the data folders that the store knew. */
  readonly known: ReadonlySet<string>;
  readonly unmerged: Unmerged;
  /** By machine; empty if folders are never restored. */
  readonly folders: readonly string[];
};

export class Scene {
  readonly clocks = new Clocks();
  readonly store: Store;
  readonly realm: Realm;
  private readonly world: World;
  readonly operator: Operator;
  readonly machines: Machine[];
  readonly files: File[] = [];
  readonly places: (Process | undefined)[];
  private readonly ended: Process[] = [];
  private readonly photographs: Photograph[] = [];
  private readonly orders = new Map<OrderId, Row>();
  /** Previewed files that were not started yet. */
  readonly previews: Preview[] = [];
  /** The batches that a second person has ever approved. */
  readonly approved = new Set<string>();
  private counted = 0;
  readonly broken: string[] = [];
  /** The lists of doubts that people have exported. */
  readonly exported: Exported[] = [];
  /**
   * True once the history breaks a condition of the promise: a process sent an order that only another machine's
   * journal held. See Unmerged.
   */
  beyondPromise = false;
  unmerged = new Unmerged();
  /** The processes that saw the store's progress before a silent rollback; null once one of them has looked again. */
  private witnesses: readonly Process[] | null = null;
  /** The delay of the next file to start. */
  nextStartMs: number | null = null;
  /** The end of the quiet hours, by the store's clock. */
  quietUntilMs = 0;
  private isWaking = false;
  /** The numbers of the batches in the store, by batch id. */
  numbers: ReadonlyMap<string, string> = new Map();
  private recovered: ReadonlySet<string> = new Set();

  constructor(
    readonly plan: Plan,
    redis: Redis,
    private readonly folder: string,
  ) {
    this.store = new Store(redis, this.clocks, plan.deniesInfo);
    this.realm = new Realm(plan.certainty === 'idempotent', this.clocks);
    this.machines = Array.from(
      { length: plan.machines },
      (_, i) => new Machine(i, join(folder, `m${i}`), this.clocks, plan.embedded),
    );
    this.places = Array.from({ length: plan.processes });
    const identity = { baseUrl: 'http://127.0.0.1:1', realmId: 'played' };
    this.world = {
      store: this.store,
      owner: { name: 'meadow', ...identity, rehearsal: false },
      profile: testProfile({
        ...identity,
        certainty: plan.certainty,
        approval: { overTokens: plan.guarded ? 0 : null, overRows: null },
        settleMs: SETTLE_MS,
        afterRollback: plan.seed % 2 === 0 ? 'wait' : 'continue',
        keyLifetimeMs: KEY_LIFETIME_MS,
        attempts: { max: 3, backoffMs: 10, backoffMaxMs: 50 },
      }),
      members: plan.members,
      takeStart: () => {
        const { nextStartMs } = this;
        this.nextStartMs = null;
        return nextStartMs;
      },
      quietUntil: () => this.quietUntilMs,
      limits: plan.rotates ? SMALL_JOURNALS : LARGE_JOURNALS,
      requests: new Requests(
        this.realm,
        (id) => this.row(id),
        (id, intention, machine) => {
          // A request that was begun and then froze leaves when its process wakes.
          const isQuiet = this.clocks.storeMs < this.quietUntilMs && !this.isWaking;
          // If its process died, it is also unknown whether the request left.
          const { reached, ambiguous } = this.world.requests;
          if (isQuiet && !reached.has(id) && !ambiguous.has(id))
            this.broken.push(`${id} left in the quiet hours`);
          if (this.unmerged.onlyKnownElsewhere(intention, machine)) this.beyondPromise = true;
        },
      ),
      trouble: (message) => {
        if (process.env.SIMULATE_TALK !== undefined) console.log(`      ${message}`);
      },
      broke: (error) => this.broken.push(error.stack ?? error.message),
    };
    this.operator = new Operator(this.world);
  }

  async begin(): Promise<void> {
    await this.store.empty();
    rmSync(this.folder, { recursive: true, force: true });
    for (const { folder } of this.machines) mkdirSync(folder, { recursive: true });
    await this.operator.arrive();
    if (this.plan.forgetsFiles) await this.photograph();
    await this.byOperator(async () => {
      const { intake } = this.operator;
      for (let i = 0; i < this.plan.files; i++) {
        const file = await intake.start(await intake.preview(firstFile(this.plan, i)));
        if (file === null) throw new Error('a first file was refused');
        this.keep(file);
        if (this.plan.guarded) await approve(this, file, 'ben');
      }
      await this.lookAround();
    });
    for (let i = 0; i < this.plan.early; i++) await this.present(i);
    for (let round = 0; round < 2; round++) for (const one of this.acting()) await one.recover();
    await this.acting()[0]?.feed();
    await this.photograph();
  }

  async close(): Promise<void> {
    for (const one of [...this.ended, ...this.places]) await one?.die();
  }

  async send(move: Extract<Move, { do: 'send' }>): Promise<void> {
    const one = await this.present(move.who);
    const file = this.file(move.file);
    const no = this.numbers.get(file.id);
    if (one === undefined || no === undefined) return;
    const refs: { no: string; index: number }[] = [];
    for (let i = 0; i < Math.min(move.count, file.rows.length); i++) {
      const index = 1 + ((move.first - 1 + i) % file.rows.length);
      const intention = file.rows[index - 1]?.intention ?? '';
      if (!this.unmerged.onlyKnownElsewhere(intention, one.machine.number)) refs.push({ no, index });
    }
    await one.deliver(file.id, refs, move.fates, move.until, move.how);
    if (move.until === 'answered') await one.answerAll(move.how);
  }

  async look(one: Process | undefined, how = SMOOTHLY): Promise<void> {
    if (one?.acts !== true) return;
    await one.recover(how);
    // A process that froze or died meanwhile has merged nothing.
    if (!one.acts) return;
    if (this.witnesses?.includes(one)) this.witnesses = null;
    this.heard(one.machine);
  }

  /** Every process looks. The last one to merge opens the ledger; the others learn of it at their next look. */
  async everybodyLooks(): Promise<void> {
    for (let round = 0; round < 2; round++) for (const one of this.acting()) await this.look(one);
    await this.acting()[0]?.probe();
  }

  async wake(one: Process | undefined): Promise<void> {
    if (one?.alive !== true || !one.asleep) return;
    if (this.witnesses !== null) {
      // The process does not know what the store forgot while it slept. Another live process tells it, if there is one.
      const witness = this.witnesses.find(({ acts }) => acts);
      await this.look(witness);
      this.beyondPromise ||= witness === undefined;
    }
    this.clocks.pass(FROZEN_MS);
    this.isWaking = true;
    await one.wake();
    this.isWaking = false;
  }

  /** Starts the process if it is missing and its machine exists. Undefined for a frozen process or a lost machine. */
  async present(place: number): Promise<Process | undefined> {
    const found = this.places[place];
    if (found?.alive === true) return found.asleep ? undefined : found;
    const machine = this.machine(place);
    if (machine.lost) return undefined;
    if (found !== undefined) this.ended.push(found);
    const fresh = await Process.start(machine, this.world);
    this.places[place] = fresh;
    this.heard(machine);
    return fresh;
  }

  heard(machine: Machine): void {
    this.unmerged.heard(machine.number);
  }

  /** The last machine cannot be lost. */
  async loseMachine(number: number): Promise<void> {
    const machine = this.machine(number);
    if (machine.lost || this.machines.filter(({ lost }) => !lost).length === 1) return;
    if (this.unmerged.knows(machine.number, this.plan.theme === 'lost pasts')) return;
    for (const one of this.places) if (one?.machine === machine) await one.die();
    machine.lost = true;
    rmSync(machine.folder, { recursive: true, force: true });
  }

  /** An operator on one machine gives up a silent session of another machine: lost, frozen, or not restarted. */
  async accept(number: number, nth: number): Promise<void> {
    const machine = this.machine(number);
    if (machine.lost) return;
    const talking = new Set(this.acting().map(({ id }) => id));
    const silent = (await this.operator.sessions()).filter((id) => !talking.has(id)).sort();
    const session = silent[nth % Math.max(1, silent.length)];
    if (session !== undefined) await this.operator.recover(machine, session);
  }

  /** An operator on one machine retires the data folders that no process has read. */
  async retireFolders(number: number): Promise<void> {
    const machine = this.machine(number);
    if (!machine.lost) await this.operator.retireFolders(machine);
  }

  async photograph(): Promise<void> {
    const folders = this.plan.copiesFolders
      ? this.machines.map((_, i) => join(this.folder, `photo-${this.photographs.length}-${i}`))
      : [];
    for (const [i, to] of folders.entries()) if (!this.machine(i).lost) this.machine(i).copyTo(to);
    this.photographs.push({
      restore: await this.store.photograph(this.operator.ledger.keyPrefix),
      sent: this.world.requests.sent.length,
      known: new Set([...(await this.operator.sessions()), ...(await this.operator.folders())]),
      unmerged: this.unmerged.copy(),
      folders,
    });
  }

  async restore(to: number, sameServer = false): Promise<void> {
    const photograph = this.photographs[to % this.photographs.length];
    if (photograph === undefined) return;
    // A store that does not reveal that it is another server is found out at the next look of a process that saw its
    // progress. Processes look every second, so also right before. Until one of them has looked again, the ledger waits
    // for none of their journals.
    const isUntold = sameServer || this.plan.deniesInfo;
    if (isUntold) await this.everybodyLooks();
    const since = this.world.requests.sent.slice(photograph.sent);
    const unmerged = photograph.unmerged.without(isUntold ? new Set() : photograph.known, since);
    const waits = this.plan.theme === 'lost pasts';
    if (this.machines.some(({ lost, damaged, number }) => (lost || damaged) && unmerged.knows(number, waits)))
      return;
    this.unmerged = unmerged;
    await photograph.restore(sameServer);
    this.witnesses = isUntold ? this.acting() : null;
    await this.lookAround();
  }

  /** Restores the data folder from a copy. A store inside the folder goes back with it. */
  async putBack({ machine: number, to, store, inPlace }: Extract<Move, { do: 'put back' }>): Promise<void> {
    const machine = this.machine(number);
    const copy = this.photographs[to % this.photographs.length]?.folders[number % this.machines.length];
    if (copy === undefined || machine.lost || machine.number >= this.machines.length) return;
    // Only this machine knows what the store has forgotten: see Unmerged.
    if (this.unmerged.knows(machine.number, false)) return;
    for (const one of this.places) if (one?.machine === machine) await one.die();
    machine.putBack(copy, inPlace);
    if (store) await this.restore(to);
  }

  async swapFolder(number: number): Promise<void> {
    const machine = this.machine(number);
    if (machine.lost) return;
    for (const one of this.places) if (one?.machine === machine) await one.die();
    machine.swap();
  }

  damage(number: number, nth: number): void {
    const machine = this.machine(number);
    if (machine.lost || this.unmerged.knows(machine.number, false)) return;
    const living = this.places.flatMap((one) => (one?.alive === true ? [one.id] : []));
    damageJournal(join(machine.folder, JOURNAL_FOLDER), living, nth);
    machine.damaged = true;
  }

  keep(file: File): void {
    this.files.push(file);
    for (const [i, row] of file.rows.entries()) this.orders.set(orderId(file.id, i + 1), row);
  }

  /** A new file with the same rows takes the place of one that the store has forgotten. */
  replace(old: File, made: File): void {
    this.files.splice(this.files.indexOf(old), 1);
    if (this.files.every(({ id }) => id !== made.id)) this.keep(made);
  }

  /** Whether the outcome of the order was uncertain. */
  isAmbiguous(id: OrderId): boolean {
    return this.world.requests.ambiguous.has(id);
  }

  row(id: OrderId): Row {
    const row = this.orders.get(id);
    if (row === undefined) throw new Error(`nobody wanted ${id}`);
    return row;
  }

  newNumber(): number {
    this.counted += 1;
    return this.counted;
  }

  byOperator(work: () => Promise<void>): Promise<void> {
    const machine = this.machines.find(({ lost }) => !lost);
    if (machine === undefined) return Promise.resolve();
    return on(machine, async () => {
      await this.lookAround();
      await work();
    });
  }

  changeCurrency(currency: string): void {
    Object.assign(this.world.profile, { currency });
  }

  /** Reads which files the store has. */
  async lookAround(): Promise<void> {
    this.numbers = await this.operator.numbers();
    this.recovered = await this.operator.recovered();
  }

  /** Whether the store has forgotten the file, or all of it but the orders that journals hold. */
  isMissing({ id }: File): boolean {
    return !this.numbers.has(id) || this.recovered.has(id);
  }

  acting(): Process[] {
    return this.places.filter((one) => one !== undefined).filter(({ acts }) => acts);
  }

  file(number: number): File {
    const file = this.files[number % this.files.length];
    if (file === undefined) throw new Error('there is no file');
    return file;
  }

  machine(number: number): Machine {
    const machine = this.machines[number % this.machines.length];
    if (machine === undefined) throw new Error('there is no machine');
    return machine;
  }
}

/**
 * A shorter pause does not count as frozen: up to ten seconds are a slow answer, after which an order may still be
 * sent.
 */
const FROZEN_MS = 15_000;
const SMALL_JOURNALS = { fileBytesMax: 1_500, folderBytesMax: 4 * 32 * 1024 };
const LARGE_JOURNALS = { fileBytesMax: 4 * 1024 * 1024, folderBytesMax: 64 * 1024 * 1024 };
