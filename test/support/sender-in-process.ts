import type { OutcomeKind, WriteOutcome } from '../../src/core/classify.js';
import { decide } from '../../src/core/decide.js';
import { type FailPoint, failPoint, onFailPoint } from '../../src/core/fail-point.js';
import { orderId } from '../../src/core/ids.js';
import { membersOf, type Order } from '../../src/core/order.js';
import type { Certainty } from '../../src/core/profile.js';
import type { Terms } from '../../src/core/terms.js';
import { Attempts } from '../../src/ledger/moves/attempts.js';
import { type Begun, claim, type OrderRef } from '../../src/ledger/moves/begin-sending.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { Session } from '../../src/ledger/sessions/session.js';
import { type BalancesBefore, Readback } from '../../src/queue/readback.js';
import { Recovery } from '../../src/queue/recover.js';
import { TwoClocks } from '../../src/queue/two-clocks.js';
import { START, type TestBatch } from './ledgers-on-redis.js';
import { WHY } from './order-moves.js';
import { type Clocks, type Fate, type PlayedRealm, SETTLE_MS } from './played-realm.js';
import { testProfile } from './realm-profile.js';

/**
 * Senders and a realm in one process, with the real ledger, journals, door and recovery between them, so
 * that thousands of histories can be tried in seconds. The realm is never rolled back.
 */

class Crash extends Error {}

type Open = {
  readonly index: number;
  readonly nonce: string;
  readonly begun: Begun;
  readonly before: BalancesBefore | null;
};

/** Claimed, and under read-back its members were read; not yet begun. */
type Prepared = { readonly hold: string; readonly before: BalancesBefore | null };

/** A sending process: it may hold requests that have begun and are not answered yet. */
export class Sender {
  readonly open: Open[] = [];
  private readonly prepared = new Map<number, Prepared>();
  private readonly readback: Readback;
  alive = true;
  private readonly plans: PlanReader;
  private readonly terms: Terms;
  private readonly door: Attempts;
  private readonly recovery: Recovery;

  private constructor(
    private readonly ledger: RealmLedger,
    private readonly batch: TestBatch,
    private readonly certainty: Certainty,
    private readonly session: Session,
    private readonly realm: PlayedRealm,
    clocks: Clocks,
  ) {
    this.plans = new PlanReader(ledger);
    this.terms = { certainty, currency: null, keyLifetimeMs: 1e9 };
    const context = { ledger, plans: this.plans, termsOf: () => Promise.resolve(this.terms) };
    this.door = new Attempts({
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
    this.readback = new Readback(
      ledger,
      profile,
      witness,
      new TwoClocks(
        () => Promise.resolve(clocks.storeMs),
        () => clocks.ownMs,
      ),
      { whileUnknown: () => Promise.resolve({ againInMs: 0 }) },
      () => {},
    );
    this.recovery = new Recovery({
      ledger,
      context,
      self: { session, door: this.door },
      patienceMs: 0,
      onTrouble: () => {},
      onLost: () => {},
      forget: () => this.plans.clear(),
      retakeRun: () => Promise.resolve(),
      onDoubt: () => Promise.resolve(),
      floorReason: () => WHY,
      onRecovered: () => Promise.resolve(),
    });
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
  ): Promise<Sender> {
    const session = await Session.open('worker', folder);
    await session.register(ledger);
    return new Sender(ledger, batch, certainty, session, realm, clocks);
  }

  /** Answers whether orders may be sent. */
  recover(): Promise<boolean> {
    return this.recovery.tick();
  }

  /** `pausing`: it gets as far as the slot of the pace and goes on at the next call, whatever happens meanwhile. */
  async begin(index: number, crashAt: FailPoint | null, pausing = false): Promise<void> {
    await this.orDie(crashAt, async () => {
      const ref = { no: this.batch.no, index };
      const prepared = this.prepared.get(index) ?? (await this.prepare(ref));
      this.prepared.delete(index);
      if (prepared === undefined) return;
      if (pausing) {
        this.prepared.set(index, prepared);
        return;
      }
      const nonce = `${this.session.id}-${index}-${Math.random().toString(36).slice(2)}`;
      const begun = await this.door.begin(ref, this.batch.ref.id, {
        nonce,
        order: this.batch.row(index).order,
        dayCap: null,
        resend: this.certainty === 'idempotent' ? { oldestMs: 1e9, known: null } : null,
        before: prepared.before,
        capReason: WHY,
        hold: prepared.hold,
      });
      if (!('refusal' in begun)) this.open.push({ index, nonce, begun, before: prepared.before });
    });
  }

  private async prepare(ref: OrderRef): Promise<Prepared | undefined> {
    const row = this.batch.row(ref.index);
    const reading = this.certainty === 'readback';
    const answer = await claim(this.ledger, ref, '', reading ? membersOf(row.order) : []);
    if (answer.answer !== 'go') return undefined;
    failPoint('claimed');
    if (answer.unknown && reading) {
      await this.readback.resolve(ref, row, this.terms);
      return undefined;
    }
    const before = reading ? await this.readback.before(row.order, null) : null;
    return before !== null && 'kind' in before ? undefined : { hold: answer.hold, before };
  }

  async finish(fate: Fate, crashAt: FailPoint | null): Promise<number | undefined> {
    const open = this.open.shift();
    if (open === undefined) return undefined;
    const { index, nonce, begun, before } = open;
    const key = `${orderId(this.batch.ref.id, index)}.${begun.keyNumber}`;
    const kind = this.realm.take(index, key, fate);
    await this.orDie(crashAt, async () => {
      failPoint('answered');
      if (kind === 'paid' && before !== null)
        await this.readback.paid({ no: this.batch.no, index }, this.batch.row(index).order, before, null);
      await this.settle(index, nonce, begun, outcomeOf(kind));
    });
    return index;
  }

  /** Ends in order: nobody waits for it any more. */
  async leave(): Promise<void> {
    await this.session.deregister(this.ledger);
    await this.die();
  }

  /** The process is gone: its socket is refused, and it neither merged nor said goodbye. */
  async die(): Promise<void> {
    this.alive = false;
    this.open.length = 0;
    this.prepared.clear();
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
    await this.door.settle({ no: this.batch.no, index }, nonce, this.batch.row(index), {
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
    });
  }

  private async orDie(crashAt: FailPoint | null, work: () => Promise<void>): Promise<void> {
    onFailPoint((point) => {
      if (point === crashAt) throw new Crash(point);
    });
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      await this.die();
    } finally {
      onFailPoint(() => {});
    }
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
