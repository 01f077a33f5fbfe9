import { failPoint } from '../core/fail-point.js';
import type { BatchId } from '../core/ids.js';
import type { Order } from '../core/order.js';
import type { Certainty } from '../core/profile.js';
import type { Books } from './books.js';
import { encodeDetail } from './detail.js';
import type { Journal } from './journal.js';
import type { Intent, JournalResult } from './journal-line.js';
import { type MergeContext, rollForward } from './merge.js';
import { park } from './parked.js';
import type { PlanRow } from './plan-block.js';
import type { PlanReader } from './plan-store.js';
import { encodeRecord } from './record.js';
import { type BeginRequest, type Begun, beginSending, type NotBegun, type OrderRef } from './sending.js';
import { type Settled, type Settlement, settle } from './settling.js';

/**
 * The one way out: what passes `begin` may be sent, and nothing else may.
 *
 *   begin   the ledger says `sending` and has fsynced it, then the intent is fsynced in the journal
 *   send    by the caller
 *   settle  the result goes into the journal, then the ledger; where the ledger has forgotten the attempt
 *           meanwhile, the result rolls it forward
 *
 * When the fence falls, this process merges its journal and only then says so: `merging` makes every
 * attempt that has passed the script, but not yet the fsync, ask the ledger again. Without that, a process
 * frozen between the two would send what another has sent since.
 */
export type DoorParts = {
  readonly books: Books;
  readonly journal: Journal;
  readonly session: string;
  readonly plans: PlanReader;
  readonly certainty: Certainty;
  /** The ledger refused because of the fence: recovery should look at once. */
  readonly onFenced: () => void;
};

export const FENCED = ['disarmed', 'rollback', 'era'];

export class Door {
  private merges = 0;
  private readonly underWay = new Map<string, Intent>();

  constructor(private readonly parts: DoorParts) {}

  /** What is being sent right now, by nonce. */
  sending(): ReadonlySet<string> {
    return new Set(this.underWay.keys());
  }

  /** From here on, what is not on its way yet asks the ledger again before it is sent. */
  async merging(): Promise<void> {
    this.merges += 1;
    await this.parts.journal.written();
  }

  async begin(
    ref: OrderRef,
    batch: BatchId,
    request: Omit<BeginRequest, 'session'>,
  ): Promise<Begun | NotBegun> {
    const { books, journal, session } = this.parts;
    const asked = { ...request, session, batch };
    const merges = this.merges;
    const begun = await beginSending(books, ref, asked);
    if ('no' in begun) {
      if (FENCED.includes(begun.no)) this.parts.onFenced();
      return begun;
    }
    failPoint('begun');
    const intent = intentOf(books.realm, ref, batch, request, begun);
    this.underWay.set(request.nonce, intent);
    try {
      await journal.intent(intent);
    } catch (error) {
      await this.takeBack(ref, request, begun);
      throw error;
    }
    failPoint('intent-written');
    if (merges === this.merges) return begun;
    const again = await beginSending(books, ref, asked);
    if (!('no' in again)) return again;
    journal.unsent(request.nonce);
    this.underWay.delete(request.nonce);
    return again;
  }

  async settle(
    ref: OrderRef,
    nonce: string,
    row: PlanRow & { readonly order: Order },
    settlement: Settlement,
  ): Promise<Settled> {
    const { books, journal } = this.parts;
    const result: JournalResult = {
      nonce,
      record: encodeRecord(settlement),
      dueInMs: settlement.dueInMs,
      detail: settlement.detail === null ? '' : encodeDetail(settlement.detail),
      requests: settlement.requests,
      limited: settlement.limited,
    };
    journal.result(result);
    failPoint('result-journaled');
    const settled = await settle(books, ref, nonce, row, settlement);
    failPoint('settled');
    const intent = this.underWay.get(nonce);
    this.underWay.delete(nonce);
    return settled.settled || intent === undefined ? settled : this.heal(ref, intent, result, settled);
  }

  /** The ledger has no such attempt: it was rolled back under us, or a person gave this session up. */
  private async heal(
    ref: OrderRef,
    intent: Intent,
    result: JournalResult,
    settled: Settled,
  ): Promise<Settled> {
    const attempt = { session: this.parts.session, intent, result };
    const answer = await rollForward(this.mergeContext(), ref.no, attempt);
    if (answer === 'gone') await park(this.parts.books, attempt);
    if (answer === 'gone' || answer === 'ahead') return settled;
    return { settled: true, code: answer, batchState: '', next: [], breakerOpened: false };
  }

  mergeContext(): MergeContext {
    const { books, plans, certainty } = this.parts;
    return { books, plans, certainty, underWay: this.sending() };
  }

  /** Nothing was sent and nothing will be: the order goes back to where it was. */
  private async takeBack(ref: OrderRef, request: Omit<BeginRequest, 'session'>, begun: Begun): Promise<void> {
    this.underWay.delete(request.nonce);
    const row = await this.parts.plans.row(ref.no, ref.index);
    if (row.order === null) return;
    const { keyNumber, attempts, tries, firstSentAt } = begun;
    await settle(
      this.parts.books,
      ref,
      request.nonce,
      { ...row, order: row.order },
      {
        ...NOT_SENT,
        code: begun.resend ? 'u' : 'w',
        keyNumber,
        attempts,
        tries,
        sentAt: firstSentAt,
        batchCreatedAt: request.sentAt,
      },
    );
  }
}

const NOT_SENT = {
  status: null,
  balance: null,
  tookMs: 0,
  latencyMs: 0,
  evidence: null,
  dueInMs: 0,
  detail: null,
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
  batch: BatchId,
  request: Omit<BeginRequest, 'session'>,
  begun: Begun,
): Intent {
  const { keyNumber, attempts, tries, seq, firstSentAt, resend } = begun;
  const { nonce, order, sentAt } = request;
  const place = { realm, batch, no: ref.no, index: ref.index, nonce };
  return { ...place, keyNumber, attempts, tries, tokens: order.tokens, seq, sentAt, firstSentAt, resend };
}
