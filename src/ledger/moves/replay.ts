import { z } from 'zod';
import { type BatchId, orderId, parseOrderId } from '../../core/ids.js';
import { contentOf, membersOf } from '../../core/order.js';
import { contentDigest } from '../../core/reference.js';
import type { Terms } from '../../core/terms.js';
import { amountText } from '../amount.js';
import { otherFormat } from '../format.js';
import { type Intent, type JournalResult, orderOf } from '../journal/line.js';
import type { JournaledAttempt } from '../journal/reader.js';
import { decodeEvent, encodeEvent } from '../order-event.js';
import { type PlanRow, UNKNOWN_ROW } from '../plan-block.js';
import { isArchiveAway } from '../read/archive-file.js';
import { archivedRecord } from '../read/batch-source.js';
import type { PlanReader } from '../read/plan-reader.js';
import { askRealm, askScript, batchFacts, type RealmLedger } from '../realm-ledger.js';
import {
  decodeRecord,
  encodeRecord,
  encodeSending,
  isStateCode,
  NEVER_SENT,
  type StateCode,
} from '../record.js';
import { ownReference } from '../reference.js';
import { type Debt, debtOf } from '../sketch.js';
import { recoveredFacts } from './recovered.js';

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
 * Puts one attempt of a journal back, whatever the ledger knows of it. `misfit`: another order stands in its place. What
 * is told about an archive that cannot be read here is `ahead`.
 */
export async function replay(
  merging: Merging,
  attempt: JournaledAttempt,
): Promise<'misfit' | 'ahead' | 'second' | StateCode> {
  const { ledger, plans } = merging;
  const { batch, index } = attempt.intent;
  try {
    for (;;) {
      const place = await sealedPlace(ledger, batch);
      const row = place === null ? null : await plans.rowOf(place.no, index, batch);
      // Forgotten, or another batch under its number, since that was read.
      if (row === undefined) continue;
      const isArchived = place?.state === 'archived';
      // The batch was recovered, and archived before this order came back.
      const isUnknown = isArchived && row === UNKNOWN_ROW;
      const isMisfit =
        place !== null &&
        !isUnknown &&
        !(fits(row, attempt.intent) && (await isPaidIn(merging, place.no, attempt.intent)));
      const archived = isArchived ? await archivedRecord({ ledger, no: place.no }, index) : null;
      const duplicateOf = row?.duplicateOf ?? null;
      const reason = isMisfit ? null : (row?.reason ?? null);
      const at = { fits: place?.no ?? null, isMisfit, duplicateOf, archived, reason };
      const answer = await replayAt(merging, attempt, at);
      if (answer !== 'again') return answer;
    }
  } catch (error) {
    if (isArchiveAway(error)) return 'ahead';
    throw error;
  }
}

async function replayAt(
  { ledger, underWay }: Merging,
  attempt: JournaledAttempt,
  place: {
    /** The number of the sealed batch with the order's id; null where there is none. */
    readonly fits: string | null;
    /** Another order stands in its row there. */
    readonly isMisfit: boolean;
    /** The order because of which its row was left out there. */
    readonly duplicateOf: string | null;
    /** The record in the archive of its batch, empty where it has none; null where it is not archived. */
    readonly archived: string | null;
    /** What its row says; a journal does not tell it. */
    readonly reason: string | null;
  },
): Promise<'again' | 'misfit' | 'ahead' | 'second' | StateCode> {
  const { intent, result } = attempt;
  const order = orderOf(intent);
  const reference = ownReference(intent);
  const recovered = await recoveredFacts(ledger, intent);
  const [answer = '', code = ''] = await askScript(ledger, 'replay', [
    intent.batch,
    intent.index,
    intent.nonce,
    intent.attempts,
    amountText({ order, reason: place.reason }),
    recordOf(underWay, attempt),
    result?.dueInMs ?? 0,
    underWay.has(intent.nonce) ? '' : detailOf(attempt),
    JSON.stringify({
      fits: place.fits,
      misfit: place.isMisfit,
      duplicateOf: place.duplicateOf,
      archived: place.archived,
      debt: debtOfIntent(intent),
      ref: reference && { ...reference, digest: contentDigest(order) },
      undoes: recovered.undoes,
      members: intent.certainty === 'readback' ? membersOf(order) : [],
      unknown: unknownOf(intent),
      honoured: intent.certainty === 'idempotent',
      session: attempt.session,
      settleMs: intent.settleMs,
      answered: isAnswer(result),
      requests: result?.requests ?? 1,
      retries: intent.attempts > 1 ? 1 : 0,
      limited: result?.limited === true ? 1 : 0,
      order: recovered.order,
    }),
  ]);
  const told = z.enum(['ok', 'ahead', 'second', 'misfit', 'again', 'older', 'newer']).parse(answer);
  if (told === 'older' || told === 'newer') throw otherFormat(told);
  return told !== 'ok' ? told : isStateCode(code) ? code : 'u';
}

/** An order that stands in for another is none of the other ones in that file. */
function debtOfIntent(intent: Intent): Debt {
  const { batch = null } = intent.replaces === null ? {} : (parseOrderId(intent.replaces) ?? {});
  return { ...debtOf(orderOf(intent), intent.reference, intent.lookedUp ?? null), notOf: batch };
}

/** The batch where it is sealed; null where the store has none, or only orders that were recovered. */
async function sealedPlace(ledger: RealmLedger, batch: BatchId) {
  const no = await askRealm(ledger, 'find batch', (redis, T) => redis.hget(`${T}:batches`, batch));
  if (no === null) return null;
  const [state, recovered] = await batchFacts({ ledger, no }, 'state', 'recovered');
  if (state === 'archived') return { no, state };
  return state == null || state === 'importing' || recovered === '1' ? null : { no, state };
}

/** A row that was left out as a duplicate is the same order as well. */
function fits(row: PlanRow | null, intent: Intent): boolean {
  if (row === null || row.order === null) return false;
  return contentOf(row.order) === contentOf(orderOf(intent)) && row.reference === intent.reference;
}

/** A person may have given the id to the same orders in another currency. */
async function isPaidIn({ termsOf }: Merging, no: string, { currency }: Intent): Promise<boolean> {
  return (await termsOf(no)).currency === currency;
}

function unknownOf({ certainty }: Intent): 'u' | 'D' {
  return certainty === 'manual' ? 'D' : 'u';
}

function recordOf(underWay: ReadonlySet<string>, { session, intent, result }: JournaledAttempt): string {
  if (result !== null) return result.record;
  const { attempts, tries, nonce, firstSentAt: sentAt, keyNumber, keyFirstAt, resend } = intent;
  const sent = { keyNumber, keyFirstAt, attempts, tries, sentAt };
  if (underWay.has(nonce)) return encodeSending({ ...sent, session, nonce, resend });
  return encodeRecord({ ...NEVER_SENT, ...sent, code: unknownOf(intent) });
}

/** Names the attempt, so that the ledger knows it from now on. */
function detailOf({ session, intent, result }: JournaledAttempt): string {
  const told = result === null || result.detail === '' ? null : decodeEvent(result.detail);
  if (told?.event === 'attempt') return encodeEvent({ ...told, attempt: intent.nonce });
  return encodeEvent({
    event: 'orphaned',
    at: Date.now(),
    sentAt: intent.sentAt,
    key: `${orderId(intent.batch, intent.index)}.${intent.keyNumber}`,
    attempt: intent.nonce,
    session,
    code: result === null ? 'ALM_SEND_OWNER_DIED' : null,
    message:
      result === null
        ? 'almoner sent this, or was about to, when it was killed; the answer is not known'
        : 'the journal says what became of an attempt that the store had forgotten',
  });
}

/** A time-out is a result, and no answer. */
export function isAnswer(result: JournalResult | null): boolean {
  return result !== null && !['u', 'D'].includes(decodeRecord(result.record).code);
}
