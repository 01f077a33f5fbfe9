import { z } from 'zod';
import { type BatchId, orderId } from '../../core/ids.js';
import { membersOf, type Order } from '../../core/order.js';
import type { Certainty } from '../../core/profile.js';
import { contentDigest } from '../../core/reference.js';
import type { Terms } from '../../core/terms.js';
import type { Intent, JournalResult } from '../journal/line.js';
import type { JournaledAttempt } from '../journal/reader.js';
import { decodeEvent, encodeEvent } from '../order-event.js';
import { isArchiveAway } from '../read/archive-file.js';
import { archivedRecord } from '../read/batch-source.js';
import type { PlanReader } from '../read/plan-reader.js';
import { askScript, batchFacts, type RealmLedger } from '../realm-ledger.js';
import {
  decodeRecord,
  encodeRecord,
  encodeSending,
  isStateCode,
  NEVER_SENT,
  type StateCode,
} from '../record.js';
import { ownReference } from '../reference.js';
import { undoneOrder } from './settle.js';

export type MergeContext = {
  readonly ledger: RealmLedger;
  readonly plans: PlanReader;
  /** The terms of the batch with this number. */
  readonly termsOf: (no: string) => Promise<Terms>;
};

export type Merging = MergeContext & {
  /** Nonces of attempts that a living process is sending right now. */
  readonly underWay: ReadonlySet<string>;
};

/**
 * Attempts of a batch that was sent by 0.1.0, whose ids left the currency out, that the store has forgotten,
 * and that was imported again under the id it has now. The key went out under the former id and cannot be
 * sent again: what came of such an attempt is known, or it is a doubt.
 */
export type FoundAttempt = JournaledAttempt & { readonly foundAs?: BatchId };

/**
 * Merges one attempt of a journal, whatever the ledger knows of it. `gone`: its batch is not in the store, or is in an
 * archive that cannot be read here.
 */
export async function rollForward(
  merging: Merging,
  no: string,
  attempt: FoundAttempt,
): Promise<'gone' | 'misfit' | 'ahead' | 'second' | StateCode> {
  try {
    const answer = await rollOnce(merging, no, attempt, null);
    if (answer !== 'archived') return answer;
    const archived = await archivedRecord({ ledger: merging.ledger, no }, attempt.intent.index);
    const told = await rollOnce(merging, no, attempt, archived);
    return told === 'archived' ? 'gone' : told;
  } catch (error) {
    if (isArchiveAway(error)) return 'gone';
    throw error;
  }
}

async function rollOnce(
  { ledger, plans, termsOf, underWay }: Merging,
  no: string,
  attempt: FoundAttempt,
  /** The order's record in the archive of its batch, empty where it has none; null where it was not read. */
  archived: string | null,
): Promise<'gone' | 'archived' | 'misfit' | 'ahead' | 'second' | StateCode> {
  const { intent, result, foundAs } = attempt;
  const batch = foundAs ?? intent.batch;
  // Read by name: a reader may still remember what another batch had under this number in another past.
  const row = await plans.rowOf(no, intent.index, batch);
  if (row === undefined) return 'gone';
  if (row?.order == null || !fits(intent, row.order)) {
    const [state] = await batchFacts({ ledger, no }, 'state');
    return state === 'archived' ? 'ahead' : 'misfit';
  }
  const certainty = foundAs === undefined ? (await termsOf(no)).certainty : 'manual';
  const reference = ownReference(row);
  const [answer = '', code = ''] = await askScript(ledger, 'roll-forward', [
    no,
    batch,
    intent.index,
    intent.nonce,
    intent.attempts,
    intent.tokens,
    recordOf(underWay, certainty, attempt),
    result?.dueInMs ?? 0,
    underWay.has(intent.nonce) ? '' : detailOf(attempt),
    JSON.stringify({
      archived,
      ref: reference && [...reference, contentDigest(row.order)],
      undoes: undoneOrder(row),
      members: certainty === 'readback' ? membersOf(row.order) : [],
      unknown: certainty === 'manual' ? 'D' : 'u',
      honoured: certainty === 'idempotent',
      session: attempt.session,
      settleMs: intent.settleMs,
      answered: isAnswer(result),
      requests: result?.requests ?? 1,
      retries: intent.attempts > 1 ? 1 : 0,
      limited: result?.limited === true ? 1 : 0,
    }),
  ]);
  const told = z.enum(['ok', 'ahead', 'second', 'gone', 'archived']).parse(answer);
  return told !== 'ok' ? told : isStateCode(code) ? code : 'u';
}

/** Journals of 0.1.0 only tell how much it was. */
function fits({ content, tokens }: Intent, order: Order): boolean {
  return tokens === order.tokens && (content === undefined || content === contentDigest(order));
}

function recordOf(
  underWay: ReadonlySet<string>,
  certainty: Certainty,
  { session, intent, result, foundAs }: FoundAttempt,
): string {
  if (result !== null) return result.record;
  const { attempts, tries, nonce, firstSentAt: sentAt, keyNumber, keyFirstAt = sentAt, resend } = intent;
  const sent = { keyNumber, keyFirstAt, attempts, tries, sentAt };
  if (underWay.has(nonce) && foundAs === undefined) return encodeSending({ ...sent, session, nonce, resend });
  return encodeRecord({ ...NEVER_SENT, ...sent, code: certainty === 'manual' ? 'D' : 'u' });
}

/** Names the attempt, so that the ledger knows it from now on; journals of 0.1.0 do not in what they tell. */
function detailOf({ session, intent, result }: JournaledAttempt): string {
  const told = result === null || result.detail === '' ? null : decodeEvent(result.detail);
  if (told?.event === 'attempt') return encodeEvent({ ...told, attempt: intent.nonce });
  return encodeEvent({
    event: 'orphaned',
    at: Date.now(),
    key: `${orderId(intent.batch, intent.index)}.${intent.keyNumber}`,
    attempt: intent.nonce,
    session,
    code: result === null ? 'ALM_SEND_OWNER_DIED' : null,
    message:
      result === null
        ? 'the journal says that it was about to be sent, and not what became of it'
        : 'the journal says what became of an attempt that the store had forgotten',
  });
}

/** A time-out is a result, and no answer. */
export function isAnswer(result: JournalResult | null): boolean {
  return result !== null && !['u', 'D'].includes(decodeRecord(result.record).code);
}
