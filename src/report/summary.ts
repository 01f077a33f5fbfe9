import { z } from 'zod';
import { CERTAINTIES } from '../core/profile.js';
import { BATCH_STATES, ORDER_STATES } from '../core/states.js';

/**
 * The schemas of summary.json. Token sums are strings of digits, because they may exceed what other programs hold as
 * a JSON number. Times are ISO 8601 in UTC. Every state is listed, also those without orders, so that a script need
 * not guess.
 */
const count = z.int().nonnegative();
const sum = z.string().regex(/^[0-9]+$/);
const time = z.iso.datetime();
const perOp = <T extends z.ZodType>(value: T) => z.object({ credit: value, debit: value, transfer: value });

/** A published shape: fields that the ledger later adds to its manifest do not slip in. */
export const SummaryManifest = z.object({
  batch: z.string(),
  realm: z.string(),
  realmId: z.string(),
  baseUrl: z.string(),
  rehearsal: z.boolean(),
  certainty: z.enum(CERTAINTIES),
  currency: z.string().nullable(),
  keyLifetimeMs: z.number(),
  source: z.string(),
  delimiter: z.enum([',', ';', '\t']),
  header: z.array(z.string()),
  rows: count,
  orders: perOp(count),
  tokens: perOp(sum),
  members: count,
  duplicates: count,
  invalid: count,
  sha256: z.string(),
  /** The SHA-256 of the input file, and of the member table if one was used. */
  fileSha256: z.string().nullable(),
  table: z.object({ name: z.string(), sha256: z.string() }).nullable(),
  again: z.string().nullable(),
  inOrder: z.boolean(),
  mode: z.enum(['run', 'import']),
  createdAt: time,
  createdBy: z.string(),
});

export const Summary = z.object({
  format: z.literal(1),
  batch: z.string(),
  realm: z.string(),
  rehearsal: z.boolean(),
  state: z.enum(BATCH_STATES),
  reason: z.object({ code: z.string(), message: z.string(), next: z.string() }).nullable(),
  /** The last moment that the ledger knows of. The report of an unfinished batch is valid as of then. */
  asOf: time,
  manifest: SummaryManifest,
  rows: count,
  counts: z.record(z.enum(ORDER_STATES), count),
  tokens: z.record(z.enum(ORDER_STATES), sum),
  paid: perOp(z.object({ orders: count, tokens: sum })),
  /** Given minus taken, of the paid orders. */
  net: z.string().regex(/^-?[0-9]+$/),
  marks: z.object({ discarded: count, replaced: count }),
  requests: count,
  retries: count,
  rateLimited: count,
  latencyMs: z.object({
    count,
    p50: z.number().nullable(),
    p90: z.number().nullable(),
    p99: z.number().nullable(),
    max: z.number().nullable(),
  }),
  pace: z.object({
    allowed: z.object({ requests: z.number(), windowMs: z.number() }).nullable(),
    allowedPerMinute: z.number().nullable(),
    /** Null if the run was too short to have a rate. */
    usedPerMinute: z.number().nullable(),
    /** Used ÷ allowed; 1 is the whole rate. */
    share: z.number().nullable(),
  }),
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  /** From start to end, including pauses. Null while the batch is not finished. */
  durationMs: z.number().nullable(),
  /** The time in which requests were sent; pauses and nights do not count. */
  activeMs: z.number().nullable(),
  failures: z.array(z.object({ code: z.string().nullable(), message: z.string().nullable(), count })),
  /** Status overrides, accepted risks and attestations. */
  caveats: z.array(z.string()),
  checks: z.object({ countsTie: z.literal(true), sumsTie: z.literal(true) }),
  /** The other files of the same report. A file with another checksum belongs to another version of the report. */
  files: z.array(z.object({ name: z.string(), bytes: count, sha256: z.string() })),
});
export type Summary = z.infer<typeof Summary>;
