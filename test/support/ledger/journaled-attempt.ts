import type { Certainty } from '../../../src/core/profile.js';
import type { Intent } from '../../../src/ledger/journal/line.js';
import type { JournaledAttempt } from '../../../src/ledger/journal/reader.js';
import type { Merging } from '../../../src/ledger/moves/replay.js';
import { PlanReader } from '../../../src/ledger/read/plan-reader.js';
import { type Merged, mergeTidings, tidingsFor } from '../../../src/ledger/sessions/merge.js';
import { START, type TestBatch } from './ledgers-on-redis.js';

/** Attempts as a journal holds them, and helpers that merge them into a ledger. */
const JOURNAL_SESSION = '0000000000aa';

const SENT = START.toString(36);

/** Records as a journal's result line holds them, for a first attempt at `START`. */
export const PAID = `P|1|1|0|200|105|${SENT}|1|a|`;
export const REFUSED = `R|2|1|0|404||${SENT}|1|a|`;
export const WAITS = `w|1|1|1|||${SENT}|1||`;

/** `record` is the record on the result line; null for an intent without a result. */
export function attemptOf(
  batch: TestBatch,
  index: number,
  record: string | null,
  changes: Partial<Intent> = {},
): JournaledAttempt {
  const { line, order, reference, replaces } = batch.row(index);
  const intent: Intent = {
    realm: batch.ledger.keyPrefix,
    batch: batch.ref.id,
    index,
    nonce: `nonce-${index}`,
    line,
    ...order,
    reference,
    replaces,
    undoes: null,
    currency: null,
    certainty: 'manual',
    keyLifetimeMs: 60_000,
    keyNumber: 1,
    keyFirstAt: START,
    attempts: 1,
    tries: 0,
    seq: index,
    sentAt: START,
    firstSentAt: START,
    resend: false,
    settleMs: 0,
    ...changes,
  };
  const result =
    record === null
      ? null
      : { nonce: intent.nonce, record, dueInMs: 0, detail: '', requests: 1, limited: false };
  return { session: JOURNAL_SESSION, intent, result };
}

export function mergeContext(
  { ledger }: TestBatch,
  certainty: Certainty,
  underWay: readonly string[] = [],
): Merging {
  return {
    ledger,
    plans: new PlanReader(ledger),
    termsOf: () => Promise.resolve({ certainty, currency: null, keyLifetimeMs: 60_000 }),
    underWay: new Set(underWay),
  };
}

export async function merge(
  batch: TestBatch,
  certainty: Certainty,
  ...attempts: readonly JournaledAttempt[]
): Promise<Merged> {
  const told = attempts.map((one) => ({ ...one, intent: { ...one.intent, certainty } }));
  return mergeTidings(mergeContext(batch, certainty), await tidingsFor(batch.ledger, told));
}
