import type { ErrorCode } from '../../../src/core/errors/catalogue.js';
import { batchId, orderId } from '../../../src/core/ids.js';
import { OPS, type Op } from '../../../src/core/order.js';
import type { OrderState } from '../../../src/core/states.js';
import type { BatchRecord, BatchView, Manifest, RowView } from '../../../src/ledger/views.js';

/** Builds consistent batch records from a list of states, as a ledger would hand them to a report. */

export const START = Date.UTC(2026, 2, 1, 9, 0, 0);
const BATCH = batchId('spring-airdrop');

export type RecordOptions = {
  readonly manifest?: Partial<Manifest>;
  readonly batch?: Partial<Omit<BatchView, 'manifest'>>;
  readonly record?: Partial<Omit<BatchRecord, 'batch' | 'rows'>>;
};

/** One row in the given state, with the cells `member, tokens, reason, city`. */
export function rowOf(state: OrderState, index: number, over: Partial<RowView> = {}): RowView {
  const op: Op = index % 7 === 0 ? 'transfer' : index % 5 === 0 ? 'debit' : 'credit';
  const member = `1190000000000${String(100_000 + index)}`;
  const tokens = (index % 40) * 5 + 5;
  const isOrder = state !== 'invalid';
  const wasSent = ['sending', 'paid', 'refused', 'exhausted', 'unknown', 'doubt'].includes(state);
  const trouble = TROUBLE[state];
  return {
    index,
    line: index + 1,
    order: orderId(BATCH, index),
    op: isOrder ? op : null,
    member: isOrder ? member : null,
    recipient: isOrder && op === 'transfer' ? '119000000000099999' : null,
    tokens: isOrder ? tokens : null,
    reference: isOrder ? `spring-${index}` : null,
    reason: 'spring games',
    state,
    doubt: state === 'doubt' ? 'd1-0c4f' : null,
    marks: [],
    attempts: state === 'exhausted' ? 4 : wasSent ? 1 : 0,
    httpStatus: state === 'paid' ? 200 : state === 'refused' ? 404 : null,
    balanceAfter: state === 'paid' ? String(1_000 + tokens) : null,
    errorCode: trouble?.[0] ?? null,
    error: trouble === undefined ? null : trouble[1].replace('MEMBER', member),
    evidence: state === 'paid' || state === 'refused' ? 'answer' : null,
    sentAt: wasSent ? START + 1_000 + index * 120 : null,
    settledAt:
      wasSent && state !== 'sending' && state !== 'unknown'
        ? START + 1_000 + index * 120 + 80 + (index % 97) * 9
        : null,
    traces: null,
    cells: [member, op === 'debit' ? `-${tokens}` : String(tokens), 'spring games', `city ${index % 12}`],
    ...over,
  };
}

const TROUBLE: Partial<Record<OrderState, [ErrorCode, string]>> = {
  refused: ['ALM_SEND_NOT_SENT', 'The realm answered 404: member MEMBER not found.'],
  exhausted: ['ALM_SEND_NOT_SENT', 'Connection refused, 4 attempts.'],
  doubt: ['ALM_SEND_NOT_SENT', 'The connection was cut after the request had been sent.'],
  unknown: ['ALM_SEND_NOT_SENT', 'No answer within 30 s.'],
  invalid: ['ALM_ROW_TOKENS_INVALID', 'tokens: found "1.000", expected plain digits.'],
};

/** A record with counts, sums and manifest that match its rows. */
export function recordOf(rows: readonly RowView[], options: RecordOptions = {}): BatchRecord {
  return streamedRecord(rows, () => rows, options);
}

/** The same for rows that are generated while they are read. `tallied` is read once beforehand for the sums. */
export function streamedRecord(
  tallied: Iterable<RowView>,
  rows: () => Iterable<RowView>,
  options: RecordOptions = {},
): BatchRecord {
  const counts: Partial<Record<OrderState, number>> = {};
  const sums: Partial<Record<OrderState, bigint>> = {};
  const orders = { credit: 0, debit: 0, transfer: 0 };
  const tokens = { credit: 0n, debit: 0n, transfer: 0n };
  let total = 0;
  for (const row of tallied) {
    total += 1;
    counts[row.state] = (counts[row.state] ?? 0) + 1;
    sums[row.state] = (sums[row.state] ?? 0n) + BigInt(row.tokens ?? 0);
    const op = OPS.find((candidate) => candidate === row.op);
    if (op === undefined) continue;
    orders[op] += 1;
    tokens[op] += BigInt(row.tokens ?? 0);
  }
  const manifest: Manifest = {
    batch: BATCH,
    fileSha256: null,
    table: null,
    realm: 'meadow',
    realmId: 'realm-7',
    baseUrl: 'https://realm.example',
    rehearsal: false,
    certainty: 'manual',
    currency: null,
    keyLifetimeMs: 86_400_000,
    source: 'spring.csv',
    delimiter: ',',
    header: ['member', 'tokens', 'reason', 'city'],
    rows: total,
    orders,
    tokens,
    members: total,
    duplicates: counts.duplicate ?? 0,
    invalid: counts.invalid ?? 0,
    sha256: 'c0ffee'.padEnd(64, '0'),
    again: null,
    columns: null,
    warnings: { count: 0, first: [] },
    inOrder: false,
    sliceMs: 10_000,
    mode: 'run',
    createdAt: START,
    createdBy: 'ada',
    ...options.manifest,
  };
  return {
    batch: {
      manifest,
      state: 'done',
      reason: null,
      counts,
      sums,
      requests: total,
      retries: 0,
      rateLimited: 0,
      startedAt: START + 1_000,
      finishedAt: START + 3_600_000,
      rate: { requests: 500, windowMs: 60_000 },
      archived: false,
      recovered: false,
      incomplete: false,
      ...options.batch,
    },
    rows: {
      async *[Symbol.asyncIterator]() {
        yield* rows();
      },
    },
    audit: [
      { at: START, who: 'ada', what: 'confirmed', why: 'spring games' },
      { at: START + 60_000, who: 'bo', what: 'paused', why: null },
    ],
    latency: [
      { upToMs: 50, count: total },
      { upToMs: 100, count: 3 },
    ],
    series: { sliceMs: 10_000, slices: [] },
    caveats: [],
    ...options.record,
  };
}
