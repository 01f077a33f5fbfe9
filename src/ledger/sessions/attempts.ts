import type { ErrorCode } from '../../core/errors/catalogue.js';
import { failPoint } from '../../core/fail-point.js';
import { type OrderId, orderId } from '../../core/ids.js';
import { isClosedLedger, type Refusal } from '../../core/may-send.js';
import type { Journal } from '../journal/journal.js';
import type { Intent, JournalResult } from '../journal/line.js';
import { type BeginRequest, type Begun, beginSending, type Refused } from '../moves/begin-sending.js';
import { holdsRefused, LEFT, Offers } from '../moves/offers.js';
import type { MergeContext } from '../moves/replay.js';
import { neverSent, type SentOrder, type Settled, type Settlement, settle } from '../moves/settle.js';
import { encodeEvent } from '../order-event.js';
import { isPlannedOrder } from '../plan-block.js';
import { batchNumber } from '../read/batches.js';
import { readFence } from '../read/fence.js';
import { readRecord } from '../read/rows.js';
import { noteSeq, type OrderRef, type RealmLedger } from '../realm-ledger.js';
import { encodeRecord, MOVED_CODE, STATE_CODES } from '../record.js';
import { lookedUp } from '../sketch.js';
import { closeIfForgotten, putBack, tidingsFor } from './merge.js';

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
  readonly onFenced: (why: Refusal) => void;
  /** For how long an answering store may refuse a result before the result leaves the worker's slot. */
  readonly refusedMs?: number;
  readonly onTrouble?: (message: string) => void;
  /** An order may be `sending` in this session's name although this session is not sending it. */
  readonly onStray?: () => void;
  /** The ledger keeps it; whoever watches this process should hear it as well. */
  readonly onSecondPayment?: (order: OrderId) => void;
};

const REFUSED_MS = 60_000;

type Settling = {
  /** Made before the ledger is told, and again with each offer. */
  readonly before?: () => Promise<void>;
  /** Hears the answer, where the result had left the slot before it was taken. */
  readonly late?: (settled: Settled) => void;
};

export class Attempts {
  private merges = 0;
  /** Asked to begin; the ledger may say `sending` before the answer is here. */
  private readonly beginning = new Set<string>();
  private readonly underWay = new Map<string, Intent>();
  readonly offers: Offers;

  constructor(private readonly parts: AttemptsDeps) {
    const { ledger, session, refusedMs = REFUSED_MS, onTrouble = () => {} } = parts;
    this.offers = new Offers({ ledger, session, onTrouble, refusedMs });
  }

  /** Whether this process holds a result that its store has refused: it must not call its end a clean one. */
  static holdRefused(): boolean {
    return holdsRefused();
  }

  /** What is being sent right now, by nonce. */
  sending(): ReadonlySet<string> {
    return new Set(this.underWay.keys());
  }

  /** Whether this process still has the attempt in hand. One that it has let go never comes back. */
  has(nonce: string): boolean {
    return this.beginning.has(nonce) || this.underWay.has(nonce);
  }

  /** From here on, what is not on its way yet asks the ledger again before it is sent. */
  async merging(): Promise<void> {
    this.merges += 1;
    await this.parts.journal.written();
  }

  async begin(ref: OrderRef, request: BeginRequest): Promise<Begun | Refused> {
    this.beginning.add(request.nonce);
    try {
      return await this.beginOnce(ref, request);
    } catch (error) {
      // Nothing has left, but the ledger may say `sending`: recovery finds it there and puts it back.
      this.parts.onStray?.();
      throw error;
    } finally {
      this.beginning.delete(request.nonce);
    }
  }

  private async beginOnce(ref: OrderRef, request: BeginRequest): Promise<Begun | Refused> {
    const { ledger, journal } = this.parts;
    const merges = this.merges;
    const begun = await beginSending(ledger, ref, request);
    if ('refusal' in begun) {
      if (isClosedLedger(begun.refusal)) this.parts.onFenced(begun.refusal);
      return begun;
    }
    failPoint('begun');
    const intent = intentOf(ledger.keyPrefix, ref, request, begun);
    this.underWay.set(request.nonce, intent);
    try {
      await journal.intent(intent);
    } catch (error) {
      // Some of it may stand in the journal all the same: the ledger notes that this attempt never left.
      await this.takeBack(ref, request.nonce, begun, null);
      throw error;
    }
    failPoint('intent-written');
    if (merges === this.merges) return begun;
    const again = await beginSending(ledger, ref, request).catch((error: unknown) => {
      this.isUnsent(request.nonce);
      throw error;
    });
    if (!('refusal' in again)) return again;
    this.isUnsent(request.nonce);
    this.parts.onStray?.();
    return again;
  }

  /** Null where the result left the slot: the order stays `sending` until the ledger takes it. */
  async settle(
    sent: SentOrder,
    settlement: Settlement,
    { before, late = () => {} }: Settling = {},
  ): Promise<Settled | null> {
    const { ref, nonce } = sent;
    const result: JournalResult = {
      nonce,
      record: encodeRecord({ ...settlement, code: MOVED_CODE[settlement.to] }),
      dueInMs: settlement.dueInMs,
      detail: settlement.detail === null ? '' : encodeEvent(settlement.detail),
      requests: settlement.requests,
      limited: settlement.limited,
    };
    this.parts.journal.result(result);
    failPoint('result-journaled');
    const give = async (singly: boolean) => {
      await before?.();
      return this.settleOnce(sent, settlement, result, singly);
    };
    const settled = await this.offers.offer({ ref, nonce }, give, late);
    failPoint('settled');
    return settled === LEFT ? null : settled;
  }

  private async settleOnce(
    sent: SentOrder,
    settlement: Settlement,
    result: JournalResult,
    singly: boolean,
  ): Promise<Settled> {
    const { ledger, journal } = this.parts;
    const { ref, nonce } = sent;
    const settled = await settle(ledger, sent, settlement, singly).catch(async (error: unknown) => {
      if (!singly) throw error;
      const record = await readRecord({ ledger, no: ref.no }, ref.index);
      if (record.code === 's' && record.nonce === nonce) throw error;
      // Recovery has settled it from the journal, or the store has forgotten it: the script need not answer any more.
      return { settled: false, state: STATE_CODES[record.code] } as const;
    });
    const intent = this.underWay.get(nonce);
    const healed =
      settled.settled || intent === undefined ? undefined : await this.heal(ref, intent, result, settled);
    if (healed === undefined) journal.settled(nonce, ledger.keyPrefix, ledger.mark.seen);
    this.underWay.delete(nonce);
    return healed ?? settled;
  }

  /** Its way ended with an error after it had begun, and nothing is under way: recovery settles it by the journal. */
  abandon(nonce: string): void {
    if (this.offers.has(nonce) || !this.underWay.delete(nonce)) return;
    this.parts.onStray?.();
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
    const underWay = new Set([...this.underWay.keys()].filter((nonce) => nonce !== intent.nonce));
    // By the batch's id: its number may stand for another one by now, and it may have been archived.
    const news = await tidingsFor(ledger, [attempt]);
    if (await closeIfForgotten(ledger, news, { by: this.parts.session, seen: ledger.mark.seen }))
      this.parts.onFenced('rollback');
    const merging = { ...this.parts.context, underWay };
    const answer = news.length === 0 ? 'ahead' : await putBack(merging, attempt);
    if (answer === 'second') this.parts.onSecondPayment?.(orderId(intent.batch, ref.index));
    // The ledger knows it by now, at a sequence that no reply has told; unless another store has taken its place.
    const after = await readFence(ledger);
    noteSeq(ledger, after.seq);
    if (after.run === before.run && after.seq >= before.seq)
      journal.settled(intent.nonce, ledger.keyPrefix, ledger.mark.seen);
    if (answer === 'misfit' || answer === 'ahead' || answer === 'second') return settled;
    return { settled: true, state: STATE_CODES[answer], next: [] };
  }

  /**
   * Nothing was sent and nothing will be, although it might have been: the order goes back to where it was. It counts as
   * a connection that did not come about, so that the breaker opens where every connection takes too long.
   */
  async takeBack(ref: OrderRef, nonce: string, begun: Begun, errorCode: ErrorCode | null): Promise<void> {
    const intent = this.underWay.get(nonce);
    if (intent === undefined) return;
    // First the journal: should the ledger never take it, the journal still proves that nothing was sent.
    this.parts.journal.unsent(nonce);
    await this.offers.offer(
      { ref, nonce },
      async (singly) => {
        await this.settleUnsent(intent, begun, errorCode, singly);
        this.isTakenBack(nonce);
      },
      () => {},
    );
  }

  private isUnsent(nonce: string): void {
    this.parts.journal.unsent(nonce);
    this.isTakenBack(nonce);
  }

  private isTakenBack(nonce: string): void {
    this.parts.journal.settled(nonce, this.parts.ledger.keyPrefix, this.parts.ledger.mark.seen);
    this.underWay.delete(nonce);
  }

  private async settleUnsent(
    intent: Intent,
    begun: Begun,
    errorCode: ErrorCode | null,
    singly: boolean,
  ): Promise<void> {
    const { batch, index, nonce } = intent;
    const { ledger, context } = this.parts;
    // By the batch's id: since a rollback its number may stand for another one, and it may have been recovered.
    const no = await batchNumber(ledger, batch);
    const row = no === null ? null : await context.plans.rowOf(no, index, batch);
    if (no === null || row == null || !isPlannedOrder(row)) return;
    const key = `${orderId(batch, index)}.${begun.keyNumber}`;
    const sent = { ref: { no, index }, nonce, row };
    await settle(ledger, sent, neverSent(key, nonce, begun, errorCode), singly);
  }
}

function intentOf(
  realm: string,
  { index }: OrderRef,
  { manifest: { batch, again, table }, nonce, row, terms }: BeginRequest,
  { unansweredUntil: _, ...begun }: Begun,
): Intent {
  const { line, order, reference, replaces, undoes } = row;
  const { currency, certainty, keyLifetimeMs } = terms;
  return {
    realm,
    batch,
    index,
    nonce,
    line,
    ...order,
    reference,
    replaces,
    undoes: undoes && { shard: undoes.shard, fieldHex: undoes.fieldHex, account: undoes.account ?? '' },
    currency,
    certainty,
    keyLifetimeMs,
    ...(again !== null && { again }),
    ...(table !== null && { lookedUp: lookedUp(table, row) }),
    ...begun,
  };
}
