import { isErrorCode } from '../../core/errors/catalogue.js';
import { namedOrder } from '../../core/ids.js';
import { isRefusal, type Refusal } from '../../core/may-send.js';
import type { PaidBefore } from '../../core/paid-before.js';
import type { OrderState } from '../../core/states.js';
import type { Terms } from '../../core/terms.js';
import { amountText } from '../amount.js';
import { encodeEvent, type OrderEvent } from '../order-event.js';
import type { PlannedOrder } from '../plan-block.js';
import { askTogether, noteSeq, type OrderRef, type RealmLedger } from '../realm-ledger.js';
import { decodeKey, fromBase36, stateOfCode } from '../record.js';
import { ownReference } from '../reference.js';
import type { Argument } from '../script-client.js';
import { debtOf, lookedUp } from '../sketch.js';
import type { Manifest, Reason } from '../views.js';
import { limitArguments } from './approvals.js';

/** `hold` names the hold under which balances may be read now; empty where nothing is held. */
export type Claim = { readonly answer: 'go'; readonly unknown: boolean; readonly hold: string } | Refused;

export async function claim(
  ledger: RealmLedger,
  ref: OrderRef,
  owner: string,
  hold: readonly string[],
): Promise<Claim> {
  const order = [ref.no, String(ref.index), owner, ...hold];
  const reply = await askTogether(ledger, 'claim', order, () => asker(ledger));
  const [answer, state, token = ''] = reply;
  return answer === 'go' ? { answer, unknown: state === 'u', hold: token } : refusedBy(reply);
}

/** What an attempt knows of its order once it may send. All times are the store's. */
export type Begun = {
  readonly keyNumber: number;
  /** The first use of the key, from which its life counts. */
  readonly keyFirstAt: number;
  readonly attempts: number;
  readonly tries: number;
  /** The attempt resends, with the same key, one whose outcome is unknown. */
  readonly resend: boolean;
  /** The time up to which an earlier attempt is known to have stayed unanswered; only a resend has it. */
  readonly unansweredUntil: number | null;
  readonly seq: number;
  /** When this attempt was sent, or the first one whose outcome is unknown. */
  readonly firstSentAt: number;
  readonly sentAt: number;
  /** The longest settle time of the senders: the earlier attempt may be that of another one. */
  readonly settleMs: number;
};

/** Why an order is not sent, as the scripts answer it (see includes/may-send.lua). */
export type Refused = { readonly refusal: Exclude<Refusal, Detailed['refusal']> } | Detailed;

type Detailed =
  | { readonly refusal: 'batch'; readonly state: string }
  | { readonly refusal: 'order'; readonly state: OrderState }
  /** The order is due only then. */
  | { readonly refusal: 'early' | 'quiet'; readonly earlyByMs: number }
  /** The unknown attempt may not be resent with its key; `attempt` is null where the record names none. */
  | { readonly refusal: 'key-old' | 'clocks'; readonly attempt: string | null }
  | PaidInstead;

/** Another order is, or may be, paid instead: nothing was sent, and the order ended. */
type PaidInstead = PaidBefore & {
  readonly refusal: 'instead';
  readonly state: OrderState;
  readonly attempts: number;
};

/** How a resend's key is judged before it leaves. */
export type KeyAge = {
  /** Older than that, a request with it might arrive after its life. */
  readonly oldestMs: number;
  /** What this process knows of the age of the key with this number; `ms` null where its clocks disagree. */
  readonly known: { readonly keyNumber: number; readonly ms: number | null } | null;
};

export type BeginRequest = {
  readonly nonce: string;
  readonly row: PlannedOrder;
  readonly terms: Terms;
  readonly dayCap: number | null;
  /** Null where an unknown is never resent. */
  readonly resend: KeyAge | null;
  readonly before: OrderEvent | null;
  readonly capReason: Reason;
  /**
   * Of the batch of the row at hand: after a rollback of the store, the number may belong to another one. By its label and
   * its table later files are compared with it, also where it was recovered.
   */
  readonly manifest: Pick<Manifest, 'batch' | 'again' | 'table'>;
  /** The hold that the claim gave and under which `before` was read; empty where nothing is held. */
  readonly hold: string;
};

export async function beginSending(
  ledger: RealmLedger,
  ref: OrderRef,
  request: BeginRequest,
): Promise<Begun | Refused> {
  const { resend, row, manifest } = request;
  const debt = debtOf(
    row.order,
    row.reference,
    manifest.table === null ? null : lookedUp(manifest.table, row),
  );
  const reference = ownReference(row);
  const order = [
    ref.no,
    String(ref.index),
    request.nonce,
    amountText(request.row),
    ...(request.dayCap === null ? ['', ''] : [String(request.dayCap), JSON.stringify(request.capReason)]),
    resend === null ? '' : String(Math.floor(resend.oldestMs)),
    resend?.known ? `${resend.known.keyNumber} ${knownMs(resend.known.ms)}` : '',
    request.before === null ? '' : encodeEvent(request.before),
    request.hold,
    request.manifest.batch,
    reference?.shard ?? '',
    reference?.fieldHex ?? '',
    debt.content,
    debt.origin ?? '',
  ];
  const reply = await askTogether(ledger, 'begin-sending', order, () => asker(ledger));
  const [answer, key = '', attempts, tries, prior = '', seq, first = '', now = '', settles, begun] = reply;
  if (answer !== 'go') return refusedBy(reply);
  noteSeq(ledger, seq);
  ledger.mark.begun = Math.max(ledger.mark.begun, Number(begun));
  const firstSentAt = fromBase36(first) ?? 0;
  const [keyNumber, keyFirstAt] = decodeKey(key, firstSentAt);
  const unansweredMs = fromBase36(prior.slice(1));
  return {
    keyNumber,
    keyFirstAt: keyFirstAt ?? firstSentAt,
    attempts: Number(attempts),
    tries: Number(tries),
    resend: prior !== '',
    unansweredUntil: unansweredMs === null ? null : firstSentAt + unansweredMs,
    seq: Number(seq),
    firstSentAt,
    sentAt: fromBase36(now) ?? firstSentAt,
    settleMs: Number(settles ?? 0),
  };
}

function refusedBy(reply: readonly string[]): Refused {
  const [, why = '', more = ''] = reply;
  if (!isRefusal(why)) throw new TypeError(`a script refused an order for ${JSON.stringify(why)}`);
  switch (why) {
    case 'batch':
      return { refusal: why, state: more };
    case 'order':
      return { refusal: why, state: stateOf(more) };
    case 'early':
    case 'quiet':
      return { refusal: why, earlyByMs: Number(more) };
    case 'key-old':
    case 'clocks':
      return { refusal: why, attempt: more || null };
    case 'instead':
      return paidInstead(reply);
    default:
      return { refusal: why };
  }
}

function paidInstead([
  ,
  ,
  state = '',
  message = '',
  attempts,
  code = '',
  against = '',
]: readonly string[]): PaidInstead {
  return {
    refusal: 'instead',
    state: stateOf(state),
    order: namedOrder(against),
    code: isErrorCode(code) ? code : 'ALM_SEND_REFERENCE_HELD',
    message,
    attempts: Number(attempts),
  };
}

function stateOf(code: string): OrderState {
  const state = stateOfCode(code);
  if (state === null) throw new TypeError(`a script answered the unknown state ${JSON.stringify(code)}`);
  return state;
}

/** What the fence asks of whoever wants to send. */
function asker({ mark, asked }: RealmLedger): Argument[] {
  const limits = limitArguments(asked.requirement);
  return [mark.seen, mark.era, mark.session, mark.begun, mark.quietUntil(), ...limits];
}

function knownMs(ms: number | null): number {
  return ms === null ? -1 : Math.max(0, Math.floor(ms));
}
