import type { OutcomeKind } from '../../src/core/classify.js';
import { type FailPoint, onFailPoint } from '../../src/core/fail-point.js';
import { type BatchId, type MemberId, type OrderId, orderId } from '../../src/core/ids.js';
import { openBatches } from '../../src/ledger/moves/feed.js';
import type { OrderRef } from '../../src/ledger/realm-ledger.js';
import { Session } from '../../src/ledger/sessions/session.js';
import { feed } from '../support/ledger/feed-one.js';
import type { Fate } from '../support/machines/played-realm.js';
import { Gate } from './gate.js';
import { type JournalTail, lostTail } from './journal-tail.js';
import { type Machine, on } from './machine.js';
import { orderNamed } from './sheet.js';
import { Died, Link, type Refusal } from './store.js';
import { type World, wire } from './wiring.js';

export type How = {
  readonly crashAt: FailPoint | null;
  /** The number of passes of that point before the process dies. */
  readonly after: number;
  readonly tail: JournalTail;
  /** The number of script replies before the process freezes. */
  readonly freezeAfter: number | null;
};
/** How far a delivery gets in its move. */
export type Until = 'answered' | 'sent' | 'claimed' | 'read';
export const SMOOTHLY: How = { crashAt: null, after: 0, tail: 'written', freezeAfter: null };

let running: Process | undefined;
onFailPoint((point) => running?.reach(point));

/**
 * A sending process, wired like the program's worker but without the queue: moves are its deliveries. Only wiring.ts
 * and operator.ts know how the program is put together. All work of a process happens within one move: until each
 * delivery is over, waits for the realm's answer or the pace, or the process froze or died.
 */
export class Process {
  alive = true;
  /** The process is frozen until it is woken; its socket still answers. */
  asleep = false;
  private readonly gate = new Gate();
  private readonly link: Link;
  private readonly parts: ReturnType<typeof wire>;
  private how: How = SMOOTHLY;
  private passed = 0;
  private readonly open: { readonly answer: () => void }[] = [];
  private readonly fates = new Map<string, Fate>();
  /** Balances are read, and their replies wait like replies to requests. */
  private holdsReads = false;
  /** Deliveries that are under way. */
  private readonly delivering = new Map<OrderRef, OrderId>();
  private loseTail: (() => void) | undefined;

  private constructor(
    readonly machine: Machine,
    private readonly world: World,
    private readonly session: Session,
  ) {
    this.link = new Link(world.store, () => this.gate.freeze());
    this.parts = wire(world, machine, session, {
      link: this.link,
      gate: this.gate,
      request: (key) => this.request(key),
      read: (member) => this.read(member),
    });
  }

  static start(machine: Machine, world: World): Promise<Process> {
    return on(machine, async () => {
      const { limits, profile } = world;
      const session = await Session.open('worker', machine.folder, { limits, here: machine.here });
      const process = new Process(machine, world, session);
      await process.act(async () => {
        await session.register(process.parts.ledger, profile);
        await process.look();
      });
      return process;
    });
  }

  get id(): string {
    return this.session.id;
  }

  /** The identity of the data folder that holds its journal. */
  get folder(): string {
    return this.session.entry.placeId;
  }

  get acts(): boolean {
    return this.alive && !this.asleep;
  }

  /** One round of a worker's recovery: watch the fence, adopt the orders of dead sessions. */
  recover(how: How = SMOOTHLY): Promise<void> {
    return this.act(() => this.look(), how);
  }

  /** The same, and closes an open breaker if the realm answers. */
  probe(): Promise<void> {
    return this.act(() => this.parts.breaker.tick());
  }

  feed(): Promise<void> {
    return this.act(async () => {
      for (const { no, cursor, rows } of await openBatches(this.parts.ledger))
        if (cursor <= rows) await feed(this.parts.ledger, no, rows, '');
    });
  }

  /**
   * Delivers orders. Until `claimed` they stop before the slot of the pace, and `goOn` continues them; until `read`,
   * they stop at the reply to a read.
   */
  deliver(
    batch: BatchId,
    refs: readonly OrderRef[],
    fates: readonly Fate[],
    until: Until,
    how: How,
  ): Promise<void> {
    return this.act(() => {
      this.parts.pace.pausing = until === 'claimed';
      this.holdsReads = until === 'read';
      for (const [i, ref] of refs.entries()) {
        const fate = fates[i % fates.length];
        const id = orderId(batch, ref.index);
        if (fate !== undefined) this.fates.set(id, fate);
        this.world.requests.batches.set(ref.no, batch);
        this.run(ref);
      }
      return Promise.resolve();
    }, how);
  }

  goOn(how: How = SMOOTHLY): Promise<void> {
    return this.act(() => {
      this.parts.pace.goOn();
      return Promise.resolve();
    }, how);
  }

  /** Delivers the realm's answers, or the time-outs, of the oldest requests under way. */
  answer(count: number, how: How = SMOOTHLY): Promise<void> {
    return this.act(() => {
      for (const { answer } of this.open.splice(0, count)) answer();
      return Promise.resolve();
    }, how);
  }

  /** Includes requests that follow from these answers. */
  async answerAll(how: How = SMOOTHLY): Promise<void> {
    while (this.acts && this.open.length > 0) await this.answer(this.open.length, how);
  }

  wake(): Promise<void> {
    this.asleep = false;
    return this.act(() => {
      this.gate.frozen = false;
      this.link.thaw();
      return Promise.resolve();
    });
  }

  refuse(refusals: readonly Refusal[]): void {
    this.link.refusals = [...refusals];
  }

  loseReplies(replies: number): void {
    this.link.losing = replies;
  }

  /** Kills the process: it neither merges nor deregisters, and its socket refuses connections. */
  async die(): Promise<void> {
    if (!this.alive) return;
    this.alive = false;
    for (const id of this.delivering.values()) this.world.requests.ambiguous.add(id);
    this.link.dead = true;
    this.link.thaw();
    await this.session.journal.written();
    // A killed process does not write that it ended.
    const cut = this.loseTail ?? lostTail(this.session.journal.folder, this.id, 'lost');
    await this.session.close();
    cut();
  }

  /** Leaves in order. */
  async leave(): Promise<void> {
    await this.answerAll();
    if (!this.alive) return;
    await this.act(() => this.session.deregister(this.parts.ledger));
    await this.die();
  }

  reach(point: FailPoint): void {
    if (this.link.dead) throw new Died();
    if (point !== this.how.crashAt) return;
    this.passed += 1;
    if (this.passed <= this.how.after) return;
    this.link.dead = true;
    if (this.how.tail !== 'written')
      this.loseTail = lostTail(this.session.journal.folder, this.id, this.how.tail);
    throw new Died();
  }

  private async look(): Promise<void> {
    if (!(await this.parts.recovery.tick())) return;
    await this.parts.recovery.adoptOrphans();
    await this.session.sayAlive(this.parts.ledger);
  }

  /** Runs one piece of work at a time as this process on its machine, until none of it is under way. */
  private async act(work: () => Promise<void>, how: How = SMOOTHLY): Promise<void> {
    if (!this.alive) return;
    this.how = how;
    this.passed = 0;
    if (how.freezeAfter !== null) this.link.freezingIn = how.freezeAfter;
    running = this;
    await on(this.machine, async () => {
      try {
        this.gate.begin();
        void this.guarded(work).finally(() => this.gate.end());
        await this.gate.still();
        if (this.link.dead) await this.die();
        else if (this.gate.frozen) this.asleep = true;
        else await this.session.journal.written();
      } finally {
        running = undefined;
        this.how = SMOOTHLY;
        if (!this.gate.frozen) this.link.freezingIn = null;
      }
    });
  }

  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.failed(error);
    }
  }

  private run(ref: OrderRef): void {
    const batch = this.world.requests.batches.get(ref.no);
    if (batch !== undefined) this.delivering.set(ref, orderId(batch, ref.index));
    this.gate.begin();
    this.parts.runner
      .send(ref)
      .then(
        (delivered) => {
          // Orders that waited for its members continue with the same worker.
          if ('next' in delivered && !this.link.dead) for (const next of delivered.next) this.run(next);
        },
        (error: unknown) => this.failed(error),
      )
      .finally(() => {
        if (!this.link.dead) this.delivering.delete(ref);
        this.gate.end();
      });
  }

  /** The queue repeats a failed delivery. A bug in the program itself is reported as a fault. */
  private failed(error: unknown): void {
    if (error instanceof Died || this.link.dead) return;
    if (error instanceof TypeError || error instanceof ReferenceError) this.world.broke(error);
    this.world.trouble(error instanceof Error ? error.message : String(error));
  }

  private async read(member: MemberId): Promise<bigint | null> {
    const balance = this.world.requests.realm.balance(member);
    if (this.holdsReads) await this.gate.wait((answer) => this.open.push({ answer }));
    return balance;
  }

  private async request(key: string): Promise<OutcomeKind> {
    const order = orderNamed(key.slice(0, key.lastIndexOf('.')));
    const fate = this.fates.get(order) ?? 'paid';
    this.fates.delete(order);
    const heard = this.world.requests.arrive(order, key, fate, this);
    await this.gate.wait((answer) => this.open.push({ answer }));
    return heard;
  }
}
