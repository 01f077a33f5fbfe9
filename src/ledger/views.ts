import { z } from 'zod';
import type { ErrorCode } from '../core/errors/catalogue.js';
import { CATALOGUE, isErrorCode } from '../core/errors/catalogue.js';
import { type BatchId, isBatchId, type OrderId } from '../core/ids.js';
import type { Op } from '../core/order.js';
import { CERTAINTIES, type Rate } from '../core/profile.js';
import type { BatchState, OrderMark, OrderState, StateCounts, StateSums } from '../core/states.js';
import type { Traces } from './order-event.js';

/**
 * What the ledger shows of a batch and its orders. Reports, CLI and desk see the ledger through these
 * values only, whether they come from Redis or from an archive.
 */

const digits = z
  .string()
  .regex(/^[0-9]+$/)
  .transform((text) => BigInt(text));

const manifest = z.object({
  batch: z.custom<BatchId>((id) => typeof id === 'string' && isBatchId(id)),
  realm: z.string(),
  realmId: z.string(),
  baseUrl: z.string(),
  rehearsal: z.boolean(),
  certainty: z.enum(CERTAINTIES),
  currency: z.string().nullable(),
  keyLifetimeMs: z.number(),
  /** The file's name, or `-`, or the rule's name; for people only. */
  source: z.string(),
  delimiter: z.enum([',', ';', '\t']),
  header: z.array(z.string()).readonly(),
  /** Rows of the input, `invalid` and `duplicate` ones included. */
  rows: z.number(),
  orders: z.object({ credit: z.number(), debit: z.number(), transfer: z.number() }),
  tokens: z.object({ credit: digits, debit: digits, transfer: digits }),
  members: z.number(),
  duplicates: z.number(),
  invalid: z.number(),
  /** Hash of realm and orders with their references: the batch's identity. */
  sha256: z.string(),
  /** Of the bytes of the file; null for rows that came from none, and before it was noted. */
  fileSha256: z.string().nullable().default(null),
  /** The table by which wallets and handles became members, and the hash of its bytes. */
  table: z
    .object({
      name: z.string(),
      sha256: z.string(),
      /** Which cells of a row were looked up; -1 for none. */
      member: z.number(),
      recipient: z.number(),
    })
    .nullable()
    .default(null),
  again: z.string().nullable(),
  /** In words, as they were shown before it was made: what its columns were taken for, and the first warnings. */
  columns: z.string().nullable().default(null),
  warnings: z
    .object({ count: z.number(), first: z.array(z.string()).readonly() })
    .default({ count: 0, first: [] }),
  inOrder: z.boolean(),
  /** How it was made: `run` by a process that works it, at first; `import` for the workers. */
  mode: z.enum(['run', 'import']),
  /** Width of a slice in the chart of the run, chosen from the expected duration so that charts stay small. */
  sliceMs: z.number(),
  createdAt: z.number(),
  createdBy: z.string(),
});

/** Written when the batch is sealed and never changed. */
export type Manifest = Readonly<z.infer<typeof manifest>>;

/** Read back before it is written: a sealed one that cannot be read would stop every later look at the books. */
export function encodeManifest(value: Manifest): string {
  const json = JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' ? part.toString() : part,
  );
  decodeManifest(json);
  return json;
}

export function decodeManifest(json: string): Manifest {
  return manifest.parse(JSON.parse(json));
}

export type Reason = { readonly code: ErrorCode; readonly message: string; readonly next: string };

export type BatchView = {
  readonly manifest: Manifest;
  readonly state: BatchState;
  readonly reason: Reason | null;
  readonly counts: StateCounts;
  readonly sums: StateSums;
  readonly requests: number;
  readonly retries: number;
  readonly rateLimited: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** The rate that the realm's profile allows, as a report is told it; null where there is none, or nobody said. */
  readonly rate: Rate | null;
  readonly archived: boolean;
  /** It holds orders that journals know and the store had forgotten; its file may have had more. */
  readonly recovered: boolean;
  /** Of a recovered one: a person has accepted that more may have been sent of it than is known. */
  readonly incomplete: boolean;
  /** What a person must know beside the numbers: read-back ended, orders that may have been paid twice. */
  readonly notes?: readonly string[];
};

/** One input row and what became of it. */
export type RowView = {
  readonly index: number;
  readonly line: number;
  readonly order: OrderId;
  /** Null for rows that never became an order. */
  readonly op: Op | null;
  readonly member: string | null;
  readonly recipient: string | null;
  readonly tokens: number | null;
  readonly reference: string | null;
  readonly reason: string | null;
  readonly state: OrderState;
  /** The number of its last doubt, which a decision names; null where it never was in doubt. */
  readonly doubt: string | null;
  readonly marks: readonly OrderMark[];
  readonly attempts: number;
  readonly httpStatus: number | null;
  readonly balanceAfter: string | null;
  readonly errorCode: ErrorCode | null;
  readonly error: string | null;
  /** What proves the state: `answer`, `key`, `readback`, `operator`… */
  readonly evidence: string | null;
  readonly sentAt: number | null;
  readonly settledAt: number | null;
  readonly cells: readonly string[];
  /** Of what nobody can prove; null for all else, and where nothing was noted. */
  readonly traces: Traces | null;
};

/**
 * When the request of an order left, as an operator looks for it in the realm's own log; null where it is not known. A
 * doubt without traces was given up before it is known to have been sent: its record holds the time of giving up.
 */
export function requestTime({ state, sentAt, traces }: RowView): number | null {
  if (traces === null) return state === 'doubt' ? null : sentAt;
  return traces.sentAt ?? sentAt;
}

const auditEntry = z.object({
  at: z.number(),
  who: z.string(),
  what: z.string(),
  why: z.string().nullable(),
});
export type AuditEntry = Readonly<z.infer<typeof auditEntry>>;

/** Checked like a manifest: it is as lasting. */
export function encodeAudit(entry: AuditEntry): string {
  return JSON.stringify(auditEntry.parse(entry));
}

export function decodeAudit(json: string): AuditEntry {
  return auditEntry.parse(JSON.parse(json));
}

/** Latencies of a batch's requests, counted in buckets so that the size does not grow with the batch. */
export type LatencyHistogram = readonly { readonly upToMs: number; readonly count: number }[];

/** Requests and settled orders per slice of time, for the chart of the run. */
export type RunSeries = {
  readonly sliceMs: number;
  readonly slices: readonly {
    readonly at: number;
    readonly requests: number;
    readonly paid: number;
    /** Definitely not applied. */
    readonly failed: number;
    readonly doubts: number;
    readonly rateLimited: number;
  }[];
};

/** All a report is made of: a pure function of this makes the files. */
export type BatchRecord = {
  readonly batch: BatchView;
  readonly rows: AsyncIterable<RowView>;
  readonly audit: readonly AuditEntry[];
  readonly latency: LatencyHistogram;
  readonly series: RunSeries;
  /** Status overrides, named risks, attestations: everything a reader must know beside the numbers. */
  readonly caveats: readonly string[];
};

/** What people, interrupted runs and the program's own breakers do to a batch or a realm as a whole. */

/** A script that halts a batch by itself knows the code; the words for it are the catalogue's. */
const reason = z
  .object({
    code: z.string().refine(isErrorCode),
    message: z.string().optional(),
    next: z.string().optional(),
  })
  .transform(({ code, message, next }) => ({
    code,
    message: message ?? CATALOGUE[code].means,
    next: next ?? CATALOGUE[code].next,
  }));

export function decodeReason(json: string | null | undefined): Reason | null {
  return json === null || json === undefined || json === '' ? null : reason.parse(JSON.parse(json));
}
