import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { isErrorCode } from '../../core/errors/catalogue.js';
import { isMemberId } from '../../core/ids.js';
import { type Candidate, type Decision, LEFT_OUT } from './decision.js';

/**
 * A plan of a rule and, once a batch was made of it, a run. The facts that each decision rests on are frozen
 * with it, so that a past decision can be explained after the facts have changed.
 */
const memberId = z.string().refine(isMemberId);
const errorCode = z.string().refine(isErrorCode);

export const runMeta = z.object({
  id: z.string(),
  rule: z.string(),
  ruleHash: z.string(),
  /** What the plan was made of besides the rule: which members, in which order, with which cells. */
  audienceHash: z.string(),
  file: z.string(),
  period: z.string(),
  /** The time the run stands for: handed in, or the scheduled one. */
  at: z.number(),
  zone: z.string(),
  startedAt: z.number(),
  plannedAt: z.number().nullable(),
  /** reading → planned or stopped; planned → run. */
  state: z.enum(['reading', 'planned', 'stopped', 'run']),
  scheduled: z.boolean(),
  who: z.string(),
  op: z.enum(['credit', 'debit', 'transfer']),
  condition: z.string().nullable(),
  award: z.string(),
  reason: z.string(),
  from: memberId.nullable(),
  /** What all runs of the period may pay together: the rule's limit, or its pot. */
  periodMax: z.number().nullable(),
  columns: z.array(z.string()),
  members: z.number(),
  awards: z.number(),
  tokens: z.string().regex(/^[0-9]+$/),
  leftOut: z.partialRecord(z.enum(LEFT_OUT), z.number()),
  stops: z.array(
    z.object({
      code: errorCode,
      message: z.string(),
      line: z.number().nullable(),
      column: z.number().nullable(),
    }),
  ),
  /** Requests made to read the facts, those before an interruption included. */
  requests: z.number(),
  blocks: z.number(),
  /** Its number in the period once a batch is made of it, part of the batch's identity: see run-number. */
  number: z.number().nullable().default(null),
  batch: z.string().nullable(),
});
export type RunMeta = z.infer<typeof runMeta>;

const decision = z.object({
  member: memberId,
  line: z.number(),
  tokens: z.number(),
  leftOut: z.enum(LEFT_OUT).nullable(),
  detail: z.string().nullable(),
  condition: z.boolean().nullable(),
  computed: z.string().nullable(),
  steps: z.array(z.string()),
});

/** One member in a run. The facts are JSON texts as the realm wrote them, cut to the fields that are named. */
const runEntry = z.object({
  decision,
  cells: z.array(z.string()),
  member: z.string().nullable(),
  web3: z.string().nullable(),
  balance: z.string().nullable(),
  wallet: z.string().nullable(),
});
export type RunEntry = z.infer<typeof runEntry>;

export function entryOf(made: Decision, candidate: Candidate | undefined): RunEntry {
  if (candidate === undefined) throw new Error('a decision without a candidate');
  const { row, member, web3, wallet } = candidate;
  return {
    decision: { ...made, steps: [...made.steps] },
    cells: [...row.cells],
    member: member.kind === 'found' ? member.text : null,
    web3: web3.kind === 'found' ? web3.text : null,
    balance: member.kind === 'found' ? member.balance : null,
    wallet,
  };
}

export const RUN_BLOCK_MEMBERS = 256;

export function encodeEntries(entries: readonly RunEntry[]): Buffer {
  return deflateRawSync(JSON.stringify(entries));
}

export function decodeEntries(bytes: Uint8Array): RunEntry[] {
  return z.array(runEntry).parse(JSON.parse(inflateRawSync(bytes).toString('utf8')));
}
