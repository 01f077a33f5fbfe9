import type { ErrorCode } from '../../../src/core/errors/catalogue.js';
import { membersOf } from '../../../src/core/order.js';
import { type Begun, beginSending, type Claim, claim } from '../../../src/ledger/moves/begin-sending.js';
import { type Conclusion, conclude } from '../../../src/ledger/moves/conclude.js';
import { orphan } from '../../../src/ledger/moves/orphan.js';
import { type Settled, type Settlement, settle } from '../../../src/ledger/moves/settle.js';
import type { OrderEvent } from '../../../src/ledger/order-event.js';
import { realmState } from '../../../src/ledger/read/realm-state.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import { batchFacts } from '../../../src/ledger/realm-ledger.js';
import type { StateCode } from '../../../src/ledger/record.js';
import type { AuditEntry, Reason } from '../../../src/ledger/views.js';
import { feed } from './feed-one.js';
import { joinAs, START, type TestBatch } from './ledgers-on-redis.js';

/** The moves of orders as a worker makes them, with defaults for every option that a test leaves out. */

export const WHY: Reason = { code: 'ALM_BATCH_REFUSALS', message: 'a test says so', next: 'nothing' };

let moments = 0;
/** Returns a new moment for each call: audit entries and details are told apart by their text. */
export function moment(): number {
  moments += 1;
  return START + moments;
}

export function audit(what: string): AuditEntry {
  return { at: moment(), who: 'ada', what, why: null };
}

export type BeginOptions = {
  readonly session?: string;
  readonly nonce?: string;
  readonly dayCap?: number | null;
  /** Oldest age of a key that may be resent; without it no order is resent. */
  readonly keyAgeMaxMs?: number;
  readonly keyAgeKnownMs?: number | null;
  readonly hold?: string;
  readonly before?: OrderEvent;
};

export async function begin(batch: TestBatch, index: number, options: BeginOptions = {}) {
  const { keyAgeMaxMs, keyAgeKnownMs = 0, nonce = `nonce-${index}`, before } = options;
  await joinAs(batch.ledger, options.session ?? (batch.owner || 'worker'));
  return beginSending(
    batch.ledger,
    { no: batch.no, index },
    {
      manifest: { batch: batch.ref.id, again: null, table: null },
      nonce,
      row: batch.row(index),
      terms: { certainty: 'manual', currency: null, keyLifetimeMs: 60_000 },
      dayCap: options.dayCap ?? null,
      resend:
        keyAgeMaxMs === undefined
          ? null
          : { oldestMs: keyAgeMaxMs, known: { keyNumber: 1, ms: keyAgeKnownMs } },
      before: before?.event === 'balances' ? { ...before, of: nonce } : null,
      capReason: { ...WHY, code: 'ALM_BATCH_DAY_CAP' },
      hold: options.hold ?? '',
    },
  );
}

/** Begins an order, and fails the test if the ledger refuses. */
export async function begun(batch: TestBatch, index: number, options: BeginOptions = {}): Promise<Begun> {
  const answer = await begin(batch, index, options);
  if ('refusal' in answer) throw new Error(`order ${index} may not be sent: ${answer.refusal}`);
  return answer;
}

export function claimFor(batch: TestBatch, index: number, owner = batch.owner): Promise<Claim> {
  return claim(batch.ledger, { no: batch.no, index }, owner, membersOf(batch.row(index).order));
}

/** Claims the order with its members held; returns the token that `begin` requires. */
export async function held(batch: TestBatch, index: number): Promise<string> {
  const answer = await claimFor(batch, index);
  if ('refusal' in answer) throw new Error(`order ${index} got no hold: ${JSON.stringify(answer)}`);
  return answer.hold;
}

export type SettleOptions = Partial<Settlement> & { readonly nonce?: string };

/** Outcomes, named by the state letters of the records they produce. */
export type SettledCode = 'P' | 'R' | 'X' | 'w' | 'u' | 'D';
const WORD = {
  P: 'paid',
  R: 'refused',
  X: 'exhausted',
  w: 'planned',
  u: 'unknown',
  D: 'doubt',
} as const satisfies Record<SettledCode, Settlement['to']>;

const CLASS: Partial<Record<StateCode, ErrorCode>> = {
  R: 'ALM_REFUSED_NOT_FOUND',
  X: 'ALM_SEND_NOT_SENT',
  u: 'ALM_SEND_TIMEOUT',
  D: 'ALM_SEND_TIMEOUT',
};

export function settleAs(
  batch: TestBatch,
  index: number,
  code: SettledCode,
  of: Begun,
  options: SettleOptions = {},
): Promise<Settled> {
  const { nonce = `nonce-${index}`, ...changes } = options;
  return settle(
    batch.ledger,
    { ref: { no: batch.no, index }, nonce, row: batch.row(index) },
    {
      to: WORD[code],
      keyNumber: of.keyNumber + (code === 'R' ? 1 : 0),
      keyFirstAt: code === 'R' ? null : of.keyFirstAt,
      attempts: of.attempts,
      tries: of.tries + (code === 'X' ? 1 : 0),
      status: code === 'P' ? 200 : code === 'R' ? 404 : null,
      balance: code === 'P' ? '105' : null,
      sentAt: of.firstSentAt,
      tookMs: 40,
      latencyMs: 40,
      evidence: code === 'P' || code === 'R' ? 'answer' : null,
      dueInMs: 0,
      detail:
        code === 'P'
          ? null
          : {
              event: 'attempt',
              at: START,
              key: `k.${of.keyNumber}`,
              attempt: nonce,
              kind: code,
              code: CLASS[code] ?? null,
              message: `ended as ${code}`,
              status: null,
              phase: 'done',
              requestId: null,
              latencyMs: 40,
              body: '',
            },
      requests: 1,
      limited: false,
      errorCode: CLASS[code] ?? null,
      sliceMs: 1_000,
      batchCreatedAt: START,
      haltRealm: null,
      refusalReason: WHY,
      ...changes,
    },
  );
}

/** Settles an order, and returns how many orders of the batch remain and whether the breaker opened. */
export async function afterwards({ ledger, no }: TestBatch, settling: () => Promise<Settled>) {
  const opened = async () => (await realmState(ledger)).breakerSince !== null;
  const before = await opened();
  const settled = await settling();
  const [batchState] = await batchFacts({ ledger, no }, 'state');
  return { ...settled, batchState, breakerOpened: !before && (await opened()) };
}

/** Feeds the batch if necessary, then sends and settles one order. */
export async function sendAs(
  batch: TestBatch,
  index: number,
  code: SettledCode,
  options: SettleOptions & BeginOptions = {},
): Promise<Settled> {
  const of = await begun(batch, index, options);
  return settleAs(batch, index, code, of, options);
}

export function feedAll(batch: TestBatch): Promise<number[]> {
  return feed(batch.ledger, batch.no, 1_000, batch.owner);
}

/** Concludes the order's current attempt or doubt, unless `about` names another one. */
export async function concludeAs(
  batch: TestBatch,
  index: number,
  from: 'u' | 'D',
  to: 'P' | 'X' | 'w' | 'D',
  options: Partial<Conclusion> & { readonly nonce?: string } = {},
) {
  const { nonce = `conclusion-${moment()}`, ...changes } = options;
  const { nonce: attempt, doubt } = await readRecord(batch.ref, index);
  const ofDoubt = { batch: batch.ref.id, doubt: doubt ?? '' };
  return conclude(batch.ledger, { no: batch.no, index }, batch.row(index), {
    about: from === 'D' ? ofDoubt : { batch: batch.ref.id, attempt, read: null },
    to: WORD[to],
    evidence: from === 'D' ? 'operator' : 'readback',
    detail: { event: 'concluded', at: START, state: to, by: 'ada', code: null, message: 'by evidence' },
    dueInMs: 0,
    audit: null,
    balance: null,
    tries: null,
    nonce,
    ...changes,
  });
}

/** Makes the session `worker`, which is dead, the holder of the order. */
export async function orphanAs(
  batch: TestBatch,
  index: number,
  to: Parameters<typeof orphan>[3]['to'],
  more: Partial<Extract<OrderEvent, { event: 'orphaned' }>> = {},
): Promise<boolean> {
  const died = {
    event: 'orphaned',
    at: 1,
    key: 'k.1',
    session: 'worker',
    code: null,
    message: 'died',
  } as const;
  return orphan(
    batch.ledger,
    { no: batch.no, index },
    { session: 'worker', row: batch.row(index), attempt: (await readRecord(batch.ref, index)).nonce ?? '' },
    { detail: { ...died, ...more }, to },
  );
}
