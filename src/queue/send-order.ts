import type { WriteOutcome } from '../core/classify.js';
import { type Decision, decide } from '../core/decide.js';
import { failPoint } from '../core/fail-point.js';
import { orderId } from '../core/ids.js';
import { membersOf, type Order, signedTokens } from '../core/order.js';
import type { RealmProfile } from '../core/profile.js';
import type { OrderState } from '../core/states.js';
import { changeOf, type Terms, termsOf } from '../core/terms.js';
import {
  type Attempts,
  type Begun,
  claim,
  FENCED,
  isPlannedOrder,
  type Manifest,
  type NotBegun,
  newNonce,
  type OrderEvent,
  type OrderRef,
  type PlannedOrder,
  type PlanReader,
  type RealmLedger,
  type Reason,
  type Settled,
} from '../ledger/index.js';
import type { RealmClient } from '../realm/client/client.js';
import type { Evidence } from './balances.js';
import type { KnownBatches } from './batches.js';
import { FRESH_MS, type Pace, type Slot } from './pace.js';
import { type Delivered, type OnDead, OVER } from './queues.js';
import { type BalancesBefore, Readback } from './readback.js';
import { capReason, haltReason, refusalReason } from './reasons.js';
import { KeyClocks, settleTime, storeClock, TwoClocks } from './two-clocks.js';
import { Unread } from './unread.js';

/**
 * One order's way through a worker: ask the ledger, wait for the pace, mark as sending, send, classify,
 * settle. The ledger decides at every step; a delivery that comes twice, late, or for a paid order ends
 * without a request. Once the request has left, nothing here aborts it.
 */
export type SenderDeps = {
  readonly ledger: RealmLedger;
  readonly profile: RealmProfile;
  readonly client: RealmClient;
  readonly pace: Pace;
  readonly plans: PlanReader;
  readonly attempts: Attempts;
  /** The session for a run's own batch, empty for the workers' batches. */
  readonly owner: string;
  readonly batches: KnownBatches;
  readonly evidence: Evidence;
  readonly stopping: () => boolean;
  readonly onTrouble: (message: string) => void;
  readonly onDead: OnDead;
  readonly onSettled: (order: Order, outcome: WriteOutcome) => void;
};

type Attempt = {
  readonly manifest: Manifest;
  readonly nonce: string;
  readonly begun: Begun;
  readonly key: string;
  readonly outcome: WriteOutcome;
};

/** The store was restarted: the delivery is made again when the journals are merged. */
const UNTIL_ARMED: Delivered = { againInMs: 250 };

const DEAD: readonly OrderState[] = ['refused', 'exhausted', 'doubt'];

export class OrderSender {
  private readonly capReason: Reason;
  private readonly readback: Readback;
  private readonly unread: Unread;
  private readonly keyClocks: KeyClocks;

  constructor(private readonly parts: SenderDeps) {
    const { ledger, profile, batches, evidence, onDead, onTrouble } = parts;
    const clocks = new TwoClocks(storeClock(ledger));
    this.capReason = capReason(profile);
    this.unread = new Unread(ledger, profile, (no) => batches.manifest(no), onDead);
    this.readback = new Readback(ledger, profile, evidence, clocks, this.unread, onTrouble);
    this.keyClocks = new KeyClocks(clocks);
  }

  async send(ref: OrderRef): Promise<Delivered> {
    const { ledger, owner, plans, profile, pace, batches } = this.parts;
    if (this.parts.stopping()) return OVER;
    // The manifest first: should the store be rolled back in between, its id is the old one and begins nothing.
    const manifest = await batches.manifest(ref.no);
    const row = await plans.row(ref.no, ref.index);
    if (!isPlannedOrder(row)) return OVER;
    const terms = termsOf(manifest, profile);
    if (changeOf(manifest, profile) !== null) return this.standStill(ref, row, terms);
    const held = terms.certainty === 'readback' ? membersOf(row.order) : [];

    let hold = '';
    // Without a limit and without holds, asking ahead saves nothing: beginSending asks the same.
    if (pace.limited || held.length > 0) {
      const answer = await claim(ledger, ref, owner, held);
      if (answer.answer === 'wait') return { againInMs: answer.ms };
      if (answer.answer === 'stop' && FENCED.includes(answer.why)) return UNTIL_ARMED;
      if (answer.answer !== 'go') return OVER;
      failPoint('claimed');
      if (answer.unknown && terms.certainty !== 'idempotent') return this.readback.resolve(ref, row, terms);
      hold = answer.hold;
    }
    const before = held.length > 0 ? await this.readback.before(row.order, terms.currency) : null;
    if (before !== null && 'kind' in before) return this.unread.beforeSending(ref, row, hold, before);
    const slot = await pace.take(() => !this.parts.stopping());
    failPoint('slot-taken');
    return slot === undefined ? OVER : this.attempt(ref, manifest, row, terms, hold, before, slot);
  }

  /** The profile is not the one that was confirmed. What is unknown in a cancelled batch is still resolved. */
  private async standStill(ref: OrderRef, row: PlannedOrder, terms: Terms): Promise<Delivered> {
    const state = await this.parts.batches.haltChanged(ref.no);
    return state === 'cancelled' ? this.readback.resolve(ref, row, terms) : OVER;
  }

  private async attempt(
    ref: OrderRef,
    manifest: Manifest,
    row: PlannedOrder,
    terms: Terms,
    hold: string,
    before: BalancesBefore | null,
    slot: Slot,
  ): Promise<Delivered> {
    const { attempts, profile } = this.parts;
    const nonce = newNonce();
    const order = orderId(manifest.batch, ref.index);
    const resends = terms.certainty === 'idempotent';
    const known = resends ? await this.keyClocks.of(order) : null;
    const asked = { monotonic: performance.now(), wall: Date.now() };
    const begun = await attempts.begin(ref, {
      batch: manifest.batch,
      nonce,
      order: row.order,
      dayCap: profile.caps.maxTokensPerDay,
      resend: resends ? { oldestMs: terms.keyLifetimeMs - this.arrivalMs(terms), known } : null,
      before,
      capReason: this.capReason,
      hold,
    });
    if ('refusal' in begun) {
      slot.answered();
      return this.notBegun(ref, row, terms, begun);
    }
    // A process that was frozen since may have been given up. Both clocks: one stands still while a machine sleeps, the
    // other may be stepped.
    if (performance.now() - asked.monotonic > FRESH_MS || Math.abs(Date.now() - asked.wall) > FRESH_MS) {
      slot.answered();
      await attempts.takeBack(ref, nonce, begun);
      return { againInMs: 0 };
    }
    const key = `${order}.${begun.keyNumber}`;
    const outcome = await this.request(row.order, key, terms.currency);
    failPoint('answered');
    slot.answered(outcome);
    const decision = decide(outcome, {
      certainty: terms.certainty,
      attempts: profile.attempts,
      resend: begun.resend ? settleTime(begun, known, profile.settleMs) : null,
      keyNumber: begun.keyNumber,
      tries: begun.tries,
      sent: begun.attempts,
      random: Math.random,
    });
    if (decision.next === 'paid' && before !== null)
      await this.readback.paid(ref, row.order, before, outcome.balance);
    const settled = await this.settle(ref, row, { manifest, nonce, begun, key, outcome }, decision);
    if (decision.next === 'unknown') await this.keyClocks.unknown(order, begun, outcome.kind !== 'unknown');
    else this.keyClocks.forget(order);
    this.parts.onSettled(row.order, outcome);
    if (!settled.settled) return OVER;
    if (DEAD.includes(settled.state))
      this.parts.onDead(manifest.batch, ref, row, settled.state, outcome, begun.attempts);
    if (settled.state === 'doubt') await this.parts.evidence.ofDoubt(ref, row.order, terms.currency);
    if (settled.state === 'planned' || settled.state === 'unknown') return { againInMs: decision.dueInMs };
    return { next: settled.next };
  }

  /**
   * How long a resend may be on its way: it must arrive while its key is known. It may hang in the realm for the settle
   * time; only a life that is hardly longer than that leaves no room for it, and then its time-out has to do.
   */
  private arrivalMs({ keyLifetimeMs }: Terms): number {
    const { settleMs, timeouts } = this.parts.profile;
    return 2 * settleMs <= keyLifetimeMs ? Math.max(settleMs, timeouts.totalMs) : timeouts.totalMs;
  }

  private request(order: Order, idempotencyKey: string, currency: string | null): Promise<WriteOutcome> {
    const { client } = this.parts;
    const { member } = order;
    return order.op === 'transfer'
      ? client.transfer({
          member,
          recipient: order.recipient,
          tokens: order.tokens,
          currency,
          idempotencyKey,
        })
      : client.changeBalance({ member, tokens: signedTokens(order), currency, idempotencyKey });
  }

  private async notBegun(
    ref: OrderRef,
    row: PlannedOrder,
    terms: Terms,
    { refusal, earlyByMs }: NotBegun,
  ): Promise<Delivered> {
    if (FENCED.includes(refusal)) return UNTIL_ARMED;
    if (earlyByMs !== undefined) return { againInMs: earlyByMs };
    if (refusal === 'key-old') return this.readback.giveUp(ref, row, terms, KEY_OLD);
    if (refusal === 'clocks') return this.readback.giveUp(ref, row, terms, KEY_AGE_UNKNOWN);
    // The realm's certainty was changed while this order was unknown: it is resolved by the new one.
    return refusal === 'unknown' ? this.readback.resolve(ref, row, terms) : OVER;
  }

  private settle(
    ref: OrderRef,
    row: PlannedOrder,
    { manifest, nonce, begun, key, outcome }: Attempt,
    decision: Decision,
  ): Promise<Settled> {
    const { profile } = this.parts;
    const plain = decision.next === 'paid' && begun.attempts === 1;
    // An answer that ends nothing leaves what is unanswered where it was.
    const until =
      begun.unansweredUntil !== null && decision.next === 'unknown' && outcome.kind !== 'unknown'
        ? begun.unansweredUntil
        : begun.sentAt + outcome.latencyMs;
    return this.parts.attempts.settle(ref, nonce, row, {
      to: decision.next,
      keyNumber: decision.keyNumber,
      keyFirstAt: decision.keyNumber === begun.keyNumber ? begun.keyFirstAt : null,
      attempts: begun.attempts,
      tries: decision.tries,
      status: outcome.status,
      balance: outcome.balance,
      sentAt: begun.firstSentAt,
      tookMs: Math.max(0, until - begun.firstSentAt),
      latencyMs: outcome.latencyMs,
      evidence: decision.evidence,
      dueInMs: decision.dueInMs,
      detail: plain ? null : attemptDetail(key, nonce, outcome, begun.sentAt),
      requests: outcome.kind === 'not-sent' ? 0 : 1,
      limited: decision.limited,
      errorCode: outcome.code,
      sliceMs: manifest.sliceMs,
      batchCreatedAt: manifest.createdAt,
      haltRealm: decision.haltRealm ? haltReason(profile, outcome) : null,
      refusalReason: decision.next === 'refused' ? refusalReason(outcome) : null,
    });
  }
}

const KEY_OLD =
  'the realm may have forgotten its key by now, so that asking again could pay a second time; nothing was sent';
const KEY_AGE_UNKNOWN =
  'the clocks disagree about how old its key is, so that asking again could pay a second time; nothing was sent';

function attemptDetail(key: string, attempt: string, outcome: WriteOutcome, at: number): OrderEvent {
  const { kind, code, message, status, phase, requestId, latencyMs, body } = outcome;
  return {
    event: 'attempt',
    at,
    key,
    attempt,
    kind,
    code,
    message,
    status,
    phase,
    requestId,
    latencyMs,
    body,
  };
}
