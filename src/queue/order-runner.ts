import { type Decision, decide } from '../core/decide.js';
import { failPoint } from '../core/fail-point.js';
import { orderId } from '../core/ids.js';
import { membersOf, type Order, signedTokens } from '../core/order.js';
import type { WriteOutcome } from '../core/outcome.js';
import type { RealmProfile } from '../core/profile.js';
import type { Books } from '../ledger/books.js';
import type { Detail } from '../ledger/detail.js';
import { type Door, FENCED } from '../ledger/door.js';
import type { PlanReader } from '../ledger/plan-store.js';
import { type Begun, claim, type OrderRef } from '../ledger/sending.js';
import type { Settled } from '../ledger/settling.js';
import type { Manifest, Reason } from '../ledger/views.js';
import type { RealmClient } from '../realm/client/client.js';
import { type Delivered, isPlannedOrder, OVER, type PlannedOrder } from './delivery.js';
import type { Evidence } from './evidence.js';
import type { Pace, Slot } from './pace.js';
import type { BalancesBefore, Readback } from './readback.js';
import { capReason, haltReason, refusalReason } from './reasons.js';
import type { TwoClocks } from './two-clocks.js';

/**
 * One order's way through a worker: ask the ledger, wait for the pace, mark as sending, send, classify,
 * settle. The ledger decides at every step; a delivery that comes twice, late, or for a paid order ends
 * without a request. Once the request has left, nothing here aborts it.
 */
export type RunnerParts = {
  readonly books: Books;
  readonly profile: RealmProfile;
  readonly client: RealmClient;
  readonly pace: Pace;
  readonly plans: PlanReader;
  readonly door: Door;
  /** The session for a run's own batch, empty for the workers' batches. */
  readonly owner: string;
  readonly readback: Readback;
  readonly evidence: Evidence;
  readonly clocks: TwoClocks;
  readonly manifestOf: (no: string) => Promise<Manifest>;
  readonly stopping: () => boolean;
  readonly newNonce: () => string;
  readonly onSettled: (
    ref: OrderRef,
    row: PlannedOrder,
    settled: Settled,
    outcome: WriteOutcome,
    attempts: number,
  ) => void;
};

type Attempt = {
  readonly manifest: Manifest;
  readonly nonce: string;
  readonly sentAt: number;
  readonly begun: Begun;
  readonly key: string;
  readonly outcome: WriteOutcome;
};

/** Machines that send to one realm need not agree to the second. */
const CLOCK_SKEW_MS = 60_000;

/** The store was restarted: the delivery is made again when the journals are merged. */
const UNTIL_ARMED: Delivered = { againInMs: 250 };

const NEXT_CODE = { paid: 'P', refused: 'R', exhausted: 'X', wait: 'w', unknown: 'u', doubt: 'D' } as const;

export class OrderRunner {
  private readonly capReason: Reason;

  constructor(private readonly parts: RunnerParts) {
    this.capReason = capReason(parts.profile);
  }

  async deliver(ref: OrderRef): Promise<Delivered> {
    const { plans, profile, pace, readback } = this.parts;
    // The manifest first: should the store be rolled back in between, its id is the old one and begins nothing.
    const manifest = await this.parts.manifestOf(ref.no);
    const row = await plans.row(ref.no, ref.index);
    if (!isPlannedOrder(row)) return OVER;
    const held = profile.certainty === 'readback' ? membersOf(row.order) : [];

    let hold = '';
    // Without a limit and without holds, asking ahead saves nothing: beginSending asks the same.
    if (pace.limited || held.length > 0) {
      const answer = await claim(this.parts.books, ref, this.parts.owner, held);
      if (answer.answer === 'wait') return { againInMs: answer.ms };
      if (answer.answer === 'stop' && FENCED.includes(answer.why)) return UNTIL_ARMED;
      if (answer.answer !== 'go') return OVER;
      failPoint('claimed');
      if (answer.unknown && profile.certainty !== 'idempotent') return readback.resolve(ref, row);
      hold = answer.hold;
    }
    const before = held.length > 0 ? await readback.before(row.order) : null;
    if (before === 'unreadable') return { againInMs: profile.attempts.backoffMs };
    const slot = await pace.take(() => !this.parts.stopping());
    failPoint('slot-taken');
    return slot === undefined ? OVER : this.attempt(ref, manifest, row, hold, before, slot);
  }

  private async attempt(
    ref: OrderRef,
    manifest: Manifest,
    row: PlannedOrder,
    hold: string,
    before: BalancesBefore | null,
    slot: Slot,
  ): Promise<Delivered> {
    const { door, profile } = this.parts;
    const nonce = this.parts.newNonce();
    const sentAt = Date.now();
    const begun = await door.begin(ref, manifest.batch, {
      nonce,
      order: row.order,
      sentAt,
      dayCap: profile.caps.maxTokensPerDay,
      mayResend: profile.certainty === 'idempotent',
      before,
      capReason: this.capReason,
      hold,
    });
    if ('no' in begun) {
      slot.answered();
      if (FENCED.includes(begun.no)) return UNTIL_ARMED;
      if (begun.earlyByMs !== undefined) return { againInMs: begun.earlyByMs };
      // The realm's certainty was changed while this order was unknown: it is resolved by the new one.
      return begun.no === 'u' ? this.parts.readback.resolve(ref, row) : OVER;
    }
    const key = `${orderId(manifest.batch, ref.index)}.${begun.keyNumber}`;
    const outcome = await this.send(row.order, key);
    failPoint('answered');
    slot.answered(outcome);
    const unknownForMs = begun.resend ? await this.unknownForMs(key, begun.firstSentAt) : 0;
    const decision = this.decision({ manifest, nonce, sentAt, begun, key, outcome }, unknownForMs);
    if (decision.next === 'paid' && before !== null)
      await this.parts.readback.paid(ref, row.order, before, outcome.balance);
    const settled = await this.settle(ref, row, { manifest, nonce, sentAt, begun, key, outcome }, decision);
    this.parts.onSettled(ref, row, settled, outcome, begun.attempts);
    if (!settled.settled) return OVER;
    if (settled.code === 'D') await this.parts.evidence.ofDoubt(ref, row.order);
    if (settled.code === 'w' || settled.code === 'u') return { againInMs: decision.dueInMs };
    return { next: settled.next };
  }

  private send(order: Order, idempotencyKey: string): Promise<WriteOutcome> {
    const { client } = this.parts;
    const { member } = order;
    return order.op === 'transfer'
      ? client.transfer({ member, recipient: order.recipient, tokens: order.tokens, idempotencyKey })
      : client.changeBalance({ member, tokens: signedTokens(order), idempotencyKey });
  }

  /** The age of a key whose first use is unknown; where the clocks disagree, it is too old for anything. */
  private async unknownForMs(key: string, firstSentAt: number): Promise<number> {
    const { clocks } = this.parts;
    const seen = await clocks.since(key);
    const byStore = (await clocks.storeMs()) - firstSentAt;
    const sane = seen.agree && byStore >= seen.ms - CLOCK_SKEW_MS;
    return sane ? Math.max(byStore, seen.ms) : Number.POSITIVE_INFINITY;
  }

  private decision({ outcome, begun }: Attempt, unknownForMs: number): Decision {
    const { certainty, attempts, keyLifetimeMs } = this.parts.profile;
    return decide(outcome, {
      certainty,
      attempts,
      keyLifetimeMs,
      resend: begun.resend,
      keyNumber: begun.keyNumber,
      tries: begun.tries,
      sent: begun.attempts,
      unknownForMs,
      random: Math.random,
    });
  }

  private settle(
    ref: OrderRef,
    row: PlannedOrder,
    { manifest, nonce, begun, key, outcome, sentAt }: Attempt,
    decision: Decision,
  ): Promise<Settled> {
    const { profile } = this.parts;
    const plain = decision.next === 'paid' && begun.attempts === 1;
    return this.parts.door.settle(ref, nonce, row, {
      code: NEXT_CODE[decision.next],
      keyNumber: decision.keyNumber,
      attempts: begun.attempts,
      tries: decision.tries,
      status: outcome.status,
      balance: outcome.balance,
      sentAt: begun.firstSentAt,
      tookMs: Math.max(0, sentAt - begun.firstSentAt) + outcome.latencyMs,
      latencyMs: outcome.latencyMs,
      evidence: decision.evidence,
      dueInMs: decision.dueInMs,
      detail: plain ? null : attemptDetail(key, outcome, sentAt),
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

function attemptDetail(key: string, outcome: WriteOutcome, at: number): Detail {
  const { kind, code, message, status, phase, requestId, latencyMs, body } = outcome;
  return { event: 'attempt', at, key, kind, code, message, status, phase, requestId, latencyMs, body };
}
