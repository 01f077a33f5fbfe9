import { failPoint } from '../../core/fail-point.js';
import { type OrderId, orderId } from '../../core/ids.js';
import { contentDigest } from '../../core/reference.js';
import type { Journal } from '../journal/journal.js';
import type { Intent, JournalResult } from '../journal/line.js';
import { park } from '../journal/parked.js';
import { encodeEvent } from '../order-event.js';
import { isPlannedOrder, type PlannedOrder } from '../plan-block.js';
import { noteSeq, type RealmLedger } from '../realm-ledger.js';
import { encodeRecord, MOVED_CODE, STATE_CODES } from '../record.js';
import { readFence } from '../sessions/fence.js';
import {
  type BeginRequest,
  type Begun,
  beginSending,
  type NotBegun,
  type OrderRef,
} from './begin-sending.js';
import { type MergeContext, rollForward } from './roll-forward.js';
import { type Settled, type Settlement, settle } from './settle.js';

/**
 * The one way out: what passes `begin` may be sent, and nothing else may.
 *
 *   claim   may it be worked on at all, before a slot of the pace is spent on it
 *   begin   the ledger says `sending` and has fsynced it, then the intent is fsynced in the journal
 *   send    by the caller
 *   settle  the result goes into the journal, then the ledger; where the ledger has forgotten the attempt
 *           meanwhile, the result rolls it forward
 *
 * When the fence falls, this process merges its journal and only then says so: `merging` makes every
 * attempt that has passed the script, but not yet the fsync, ask the ledger again. Without that, a process
 * frozen between the two would send what another has sent since.
 */
type AttemptsDeps = {
  readonly ledger: RealmLedger;
  readonly journal: Journal;
  readonly session: string;
  readonly context: MergeContext;
  /** The ledger refused because of the fence: recovery should look at once. */
  readonly onFenced: (why: string) => void;
  /** The ledger keeps it; whoever watches this process should hear it as well. */
  readonly onSecondPayment?: (order: OrderId) => void;
};

export const FENCED = ['disarmed', 'rollback', 'era', 'lost'];

export class Attempts {
  private merges = 0;
  private readonly underWay = new Map<string, Intent>();

  constructor(private readonly parts: AttemptsDeps) {}

  /** What is being sent right now, by nonce. */
  sending(): ReadonlySet<string> {
    return new Set(this.underWay.keys());
  }

  /** From here on, what is not on its way yet asks the ledger again before it is sent. */
  async merging(): Promise<void> {
    this.merges += 1;
    await this.parts.journal.written();
  }

  async begin(ref: OrderRef, request: BeginRequest): Promise<Begun | NotBegun> {
    const { ledger, journal } = this.parts;
    const merges = this.merges;
    const begun = await beginSending(ledger, ref, request);
    if ('refusal' in begun) {
      if (FENCED.includes(begun.refusal)) this.parts.onFenced(begun.refusal);
      return begun;
    }
    failPoint('begun');
    const intent = intentOf(ledger.keyPrefix, ref, request, begun);
    this.underWay.set(request.nonce, intent);
    try {
      await journal.intent(intent);
    } catch (error) {
      // Some of it may stand in the journal all the same: the ledger notes that this attempt never left.
      await this.settleUnsent(ref, intent, begun);
      this.underWay.delete(request.nonce);
      throw error;
    }
    failPoint('intent-written');
    if (merges === this.merges) return begun;
    const again = await beginSending(ledger, ref, request);
    if (!('refusal' in again)) return again;
    this.isUnsent(request.nonce);
    return again;
  }

  async settle(ref: OrderRef, nonce: string, row: PlannedOrder, settlement: Settlement): Promise<Settled> {
    const { ledger, journal } = this.parts;
    const result: JournalResult = {
      nonce,
      record: encodeRecord({ ...settlement, code: MOVED_CODE[settlement.to] }),
      dueInMs: settlement.dueInMs,
      detail: settlement.detail === null ? '' : encodeEvent(settlement.detail),
      requests: settlement.requests,
      limited: settlement.limited,
    };
    journal.result(result);
    failPoint('result-journaled');
    const settled = await settle(ledger, ref, nonce, row, settlement);
    failPoint('settled');
    const intent = this.underWay.get(nonce);
    this.underWay.delete(nonce);
    if (!settled.settled && intent !== undefined) return this.heal(ref, intent, result, settled);
    journal.settled(nonce, ledger.keyPrefix, ledger.mark.seen);
    return settled;
  }

  /** The ledger has no such attempt: it was rolled back under us, or a person gave this session up. */
  private async heal(
    ref: OrderRef,
    intent: Intent,
    result: JournalResult,
    settled: Settled,
  ): Promise<Settled> {
    const attempt = { session: this.parts.session, intent, result };
    const { ledger, journal } = this.parts;
    const before = await readFence(ledger);
    const answer = await rollForward({ ...this.parts.context, underWay: this.sending() }, ref.no, attempt);
    if (answer === 'second') this.parts.onSecondPayment?.(orderId(intent.batch, ref.index));
    if (answer === 'gone' || answer === 'misfit') await park(ledger, attempt);
    // The ledger knows it by now, at a sequence that no reply has told; unless another store has taken its place.
    const after = await readFence(ledger);
    noteSeq(ledger, after.seq);
    if (after.run === before.run && after.seq >= before.seq)
      journal.settled(intent.nonce, ledger.keyPrefix, ledger.mark.seen);
    if (answer === 'gone' || answer === 'misfit' || answer === 'ahead' || answer === 'second') return settled;
    return { settled: true, state: STATE_CODES[answer], next: [] };
  }

  /** Nothing was sent and nothing will be, although it might have been: the order goes back to where it was. */
  async takeBack(ref: OrderRef, nonce: string, begun: Begun): Promise<void> {
    const intent = this.underWay.get(nonce);
    if (intent !== undefined) await this.settleUnsent(ref, intent, begun);
    this.isUnsent(nonce);
  }

  private isUnsent(nonce: string): void {
    this.parts.journal.unsent(nonce);
    this.parts.journal.settled(nonce, this.parts.ledger.keyPrefix, this.parts.ledger.mark.seen);
    this.underWay.delete(nonce);
  }

  private async settleUnsent(ref: OrderRef, { batch, nonce }: Intent, begun: Begun): Promise<void> {
    const row = await this.parts.context.plans.row(ref.no, ref.index);
    if (!isPlannedOrder(row)) return;
    const { keyNumber, keyFirstAt, attempts, tries, firstSentAt, unansweredUntil } = begun;
    await settle(this.parts.ledger, ref, nonce, row, {
      ...NOT_SENT,
      detail: {
        event: 'attempt',
        at: Date.now(),
        key: `${orderId(batch, ref.index)}.${keyNumber}`,
        attempt: nonce,
        kind: 'not-sent',
        code: null,
        message: 'taken back before anything of it left',
        status: null,
        phase: 'none',
        requestId: null,
        latencyMs: 0,
        body: '',
      },
      to: begun.resend ? 'unknown' : 'planned',
      keyNumber,
      keyFirstAt,
      attempts,
      tries,
      sentAt: firstSentAt,
      tookMs: (unansweredUntil ?? firstSentAt) - firstSentAt,
      batchCreatedAt: begun.sentAt,
    });
  }
}

const NOT_SENT = {
  status: null,
  balance: null,
  latencyMs: 0,
  evidence: null,
  dueInMs: 0,
  requests: 0,
  limited: false,
  errorCode: null,
  sliceMs: 1000,
  haltRealm: null,
  refusalReason: null,
} as const;

function intentOf(
  realm: string,
  ref: OrderRef,
  { batch, nonce, order }: BeginRequest,
  { unansweredUntil: _, ...begun }: Begun,
): Intent {
  const place = { realm, batch, no: ref.no, index: ref.index };
  return { ...place, nonce, tokens: order.tokens, content: contentDigest(order), ...begun };
}
