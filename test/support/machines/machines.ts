import type { OutcomeKind, WriteOutcome } from '../../../src/core/classify.js';
import { decide } from '../../../src/core/decide.js';
import { type FailPoint, failPoint, onFailPoint } from '../../../src/core/fail-point.js';
import { orderId } from '../../../src/core/ids.js';
import { membersOf, type Order } from '../../../src/core/order.js';
import type { Certainty } from '../../../src/core/profile.js';
import type { Terms } from '../../../src/core/terms.js';
import type { Here } from '../../../src/ledger/here/liveness.js';
import { JOURNAL_LIMITS, type JournalLimits } from '../../../src/ledger/journal/journal.js';
import { type Begun, claim } from '../../../src/ledger/moves/begin-sending.js';
import { PlanReader } from '../../../src/ledger/read/plan-reader.js';
import { type OrderRef, openLedger, type RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { type Argument, ScriptClient } from '../../../src/ledger/script-client.js';
import { Attempts } from '../../../src/ledger/sessions/attempts.js';
import { Session } from '../../../src/ledger/sessions/session.js';
import { RecoveryWatch } from '../../../src/ledger/sessions/watch.js';
import { type BalancesBefore, Readback } from '../../../src/queue/readback.js';
import { TwoClocks } from '../../../src/queue/two-clocks.js';
import { START, type TestBatch } from '../ledger/ledgers-on-redis.js';
import { WHY } from '../ledger/order-moves.js';
import { testProfile } from '../ledger/realm-profile.js';
import type { TestRedis } from '../redis-server.js';
import { Clocks, type Fate, PlayedRealm, SETTLE_MS } from './played-realm.js';

/** Senders and a realm in one process, with the real ledger, journals and recovery between them. */

class Crash extends Error {}

type Open = {
  readonly index: number;
  readonly nonce: string;
  readonly begun: Begun;
  readonly before: BalancesBefore | null;
};

type Opening = { readonly limits?: JournalLimits; readonly ephemeral?: boolean; readonly here?: Here };

/** A sending process. It may hold requests that have begun and have no answer yet. */
export class Sender {
  readonly open: Open[] = [];
  private readonly readback: Readback;
  alive = true;
  private readonly plans: PlanReader;
  private readonly terms: Terms;
  readonly attempts: Attempts;
  private readonly recovery: RecoveryWatch;

  private constructor(
    private readonly ledger: RealmLedger,
    private batch: TestBatch,
    private readonly certainty: Certainty,
    readonly session: Session,
    private readonly realm: PlayedRealm,
    clocks: Clocks,
  ) {
    this.plans = new PlanReader(ledger);
    this.terms = { certainty, currency: null, keyLifetimeMs: 1e9 };
    const context = { ledger, plans: this.plans, termsOf: () => Promise.resolve(this.terms) };
    this.attempts = new Attempts({
      ledger,
      journal: session.journal,
      session: session.id,
      context,
      onFenced: (why) => this.recovery.fenced(why),
    });
    const profile = testProfile({ certainty, settleMs: SETTLE_MS });
    const witness = {
      balances: (order: Order) => Promise.resolve(realm.read(order)),
      ofDoubt: () => Promise.resolve(),
    };
    this.readback = new Readback({
      ledger,
      profile,
      evidence: witness,
      clocks: new TwoClocks(
        () => Promise.resolve(clocks.storeMs),
        () => clocks.ownMs,
      ),
      unread: { whileUnknown: () => Promise.resolve({ againInMs: 0 }) },
      onTrouble: () => {},
    });
    this.recovery = new RecoveryWatch({
      ledger,
      context,
      self: { session, attempts: this.attempts },
      patienceMs: 0,
      onTrouble: () => {},
      onLost: () => {},
      forget: () => this.plans.clear(),
      retakeRun: () => Promise.resolve(),
      onDoubt: () => Promise.resolve(),
      onRecovered: () => Promise.resolve(),
    });
  }

  /** Makes `batch` the batch of every order that the sender begins from now on. */
  works(batch: TestBatch): void {
    this.batch = batch;
    this.realm.orderOf = (at) => batch.row(at).order;
  }

  /** Sends one order of any batch and settles it; false if the ledger refused to begin it. */
  async send(batch: TestBatch, index: number, fate: Fate): Promise<boolean> {
    this.works(batch);
    await this.begin(index);
    if (this.open.length === 0) return false;
    await this.finish(fate);
    return true;
  }

  adoptDead(): Promise<void> {
    return this.recovery.adoptOrphans();
  }

  static async start(
    ledger: RealmLedger,
    batch: TestBatch,
    certainty: Certainty,
    folder: string,
    realm: PlayedRealm,
    clocks: Clocks,
    opening: Opening = {},
  ): Promise<Sender> {
    const session = await Session.open('worker', folder, { limits: JOURNAL_LIMITS, ...opening });
    await session.register(ledger);
    return new Sender(ledger, batch, certainty, session, realm, clocks);
  }

  /** Runs one round of recovery; returns whether orders may be sent. */
  recover(): Promise<boolean> {
    return this.recovery.tick();
  }

  /** Begins an order. The process dies at `crashAt`. */
  async begin(index: number, crashAt: FailPoint | null = null): Promise<void> {
    onFailPoint((point) => {
      if (point === crashAt) throw new Crash(point);
    });
    try {
      const ref = { no: this.batch.no, index };
      const prepared = await this.prepare(ref);
      if (prepared === undefined) return;
      const nonce = `${this.session.id}-${index}-${Math.random().toString(36).slice(2)}`;
      const begun = await this.attempts.begin(ref, {
        manifest: { batch: this.batch.ref.id, again: null, table: null },
        nonce,
        row: this.batch.row(index),
        terms: { certainty: this.certainty, currency: null, keyLifetimeMs: 1e9 },
        dayCap: null,
        resend: this.certainty === 'idempotent' ? { oldestMs: 1e9, known: null } : null,
        before: prepared.before === null ? null : { ...prepared.before, of: nonce },
        capReason: WHY,
        hold: prepared.hold,
      });
      if (!('refusal' in begun)) this.open.push({ index, nonce, begun, before: prepared.before });
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      await this.die();
    } finally {
      onFailPoint(() => {});
    }
  }

  /** Claims the order; under read-back it also reads the balances of its members. */
  private async prepare(
    ref: OrderRef,
  ): Promise<{ readonly hold: string; readonly before: BalancesBefore | null } | undefined> {
    const row = this.batch.row(ref.index);
    const reading = this.certainty === 'readback';
    const answer = await claim(this.ledger, ref, '', reading ? membersOf(row.order) : []);
    if ('refusal' in answer) return undefined;
    failPoint('claimed');
    if (answer.unknown && reading) {
      await this.readback.resolve({ batch: this.batch.ref.id, ref, row, terms: this.terms });
      return undefined;
    }
    const before = reading ? await this.readback.before(row.order, null) : null;
    return before !== null && 'kind' in before ? undefined : { hold: answer.hold, before };
  }

  async finish(fate: Fate): Promise<void> {
    const open = this.open.shift();
    if (open === undefined) return;
    const { index, nonce, begun, before } = open;
    const key = `${orderId(this.batch.ref.id, index)}.${begun.keyNumber}`;
    const kind = this.realm.take(index, key, fate);
    if (kind === 'paid' && before !== null) {
      const { order } = this.batch.row(index);
      await this.readback.paid({ ref: { no: this.batch.no, index }, order, currency: null }, before, null);
    }
    await this.settle(index, nonce, begun, outcomeOf(kind));
  }

  /** Leaves in order: the session deregisters, so no process waits for its journal. */
  async leave(): Promise<void> {
    await this.session.deregister(this.ledger);
    await this.die();
  }

  /** Kills the process: its socket refuses connections, and it neither merges nor deregisters. */
  async die(): Promise<void> {
    this.alive = false;
    this.open.length = 0;
    await this.session.close();
  }

  private async settle(index: number, nonce: string, begun: Begun, outcome: WriteOutcome): Promise<void> {
    const decision = decide(outcome, {
      certainty: this.certainty,
      attempts: { max: 3, backoffMs: 1, backoffMaxMs: 1 },
      resend: begun.resend ? { settleTime: 'over', settleLeftMs: 0 } : null,
      keyNumber: begun.keyNumber,
      tries: begun.tries,
      sent: begun.attempts,
      random: () => 0,
    });
    await this.attempts.settle(
      { ref: { no: this.batch.no, index }, nonce, row: this.batch.row(index) },
      {
        to: decision.next,
        keyNumber: decision.keyNumber,
        keyFirstAt: decision.keyNumber === begun.keyNumber ? begun.keyFirstAt : null,
        attempts: begun.attempts,
        tries: decision.tries,
        status: null,
        balance: null,
        sentAt: begun.firstSentAt,
        tookMs: 1,
        latencyMs: 1,
        evidence: decision.evidence,
        dueInMs: 0,
        detail: null,
        requests: 1,
        limited: false,
        errorCode: null,
        sliceMs: 1000,
        batchCreatedAt: START,
        haltRealm: null,
        refusalReason: WHY,
      },
    );
  }
}

function outcomeOf(kind: OutcomeKind): WriteOutcome {
  return {
    kind,
    code: null,
    message: kind,
    phase: 'done',
    status: kind === 'refused' ? 422 : null,
    requestId: null,
    retryAfterMs: 0,
    rate: null,
    latencyMs: 1,
    body: '',
    balance: null,
  };
}

/** Records which scripts were called, in order. */
class Heard extends ScriptClient {
  readonly scripts: string[] = [];

  override script(name: string, realm: string, args: readonly Argument[]): Promise<unknown> {
    this.scripts.push(name);
    return super.script(name, realm, args);
  }
}

export type Machine = {
  readonly sender: Sender;
  readonly ledger: RealmLedger;
  readonly scripts: readonly string[];
};

/** Senders of one realm, each with its own data folder and memory, as on separate machines. */
export class Machines {
  private readonly clocks = new Clocks();
  readonly realm: PlayedRealm;

  constructor(
    private readonly redis: TestRedis,
    private readonly batch: TestBatch,
    private readonly certainty: Certainty,
  ) {
    const orderOf = (index: number) => batch.row(index).order;
    this.realm = new PlayedRealm(certainty === 'idempotent', orderOf, this.clocks);
  }

  async start(folder: string, opening: Opening = {}): Promise<Machine> {
    const scripts = new Heard(this.redis.client(), 10_000, () => {}, opening);
    const ledger = openLedger(scripts, this.batch.ledger.realm, this.batch.ledger.asked);
    const { batch, certainty, realm, clocks } = this;
    const sender = await Sender.start(ledger, batch, certainty, folder, realm, clocks, opening);
    return { sender, ledger, scripts: scripts.scripts };
  }
}
