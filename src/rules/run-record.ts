import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { isErrorCode } from '../core/errors/catalogue.js';
import { isRecordedMemberId } from '../core/ids.js';
import { type Candidate, type Decision, isLeftOut, LEFT_OUT } from './decision.js';

/**
 * A plan of a rule; with a batch it is a run. The facts of each decision are stored with it, so that a past decision
 * can be explained after the facts have changed.
 */
const memberId = z.string().refine(isRecordedMemberId);
const errorCode = z.string().refine(isErrorCode);

export const runMeta = z.object({
  id: z.string(),
  rule: z.string(),
  ruleHash: z.string(),
  /** The audience of the plan: its members, their order, and their cells. */
  audienceHash: z.string(),
  file: z.string(),
  period: z.string(),
  /** The time that the run stands for: given by the caller, or the scheduled one. */
  at: z.number(),
  zone: z.string(),
  startedAt: z.number(),
  plannedAt: z.number().nullable(),
  /** reading → planned or stopped; planned → run, or cancelled together with the import of its batch. */
  state: z.enum(['reading', 'planned', 'stopped', 'run', 'cancelled']),
  scheduled: z.boolean(),
  who: z.string(),
  op: z.enum(['credit', 'debit', 'transfer']),
  /** The currency of the plan. Runs from before this field are paid in the profile's own. */
  currency: z.string().nullable().optional(),
  condition: z.string().nullable(),
  award: z.string(),
  reason: z.string(),
  from: memberId.nullable(),
  /** The total that all runs of the period may pay: the rule's limit, or its pot. */
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
  /** Requests made to read the facts, including those before an interruption. */
  requests: z.number(),
  blocks: z.number(),
  /**
   * The run's number in the period, set when a batch is made of it. It is part of the batch's identity: see
   * `runNumber`.
   */
  number: z.number().nullable().default(null),
  batch: z.string().nullable(),
});
export type RunMeta = z.infer<typeof runMeta>;

/** One member in a run. The facts are JSON texts as the realm wrote them, reduced to the named fields. */
export type RunEntry = {
  readonly decision: Decision;
  readonly cells: readonly string[];
  readonly member: string | null;
  readonly web3: string | null;
  readonly balance: string | null;
  readonly wallet: string | null;
};

/** Joins a decision with the facts that it rests on. */
export function entryOf(made: Decision, candidate: Candidate | undefined): RunEntry {
  if (candidate === undefined) throw new Error('a decision without a candidate');
  const { row, member, web3, wallet } = candidate;
  return {
    decision: made,
    cells: row.cells,
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

/** Decodes a block of decisions. A block without the text `having` gives none, which avoids parsing it. */
export function decodeEntries(bytes: Uint8Array, having = ''): RunEntry[] {
  const text = inflateRawSync(bytes).toString('utf8');
  const parsed: unknown = text.includes(having) ? JSON.parse(text) : [];
  if (!Array.isArray(parsed) || !parsed.every(isEntry))
    throw new Error('a block of a run holds something that is no decision');
  return parsed;
}

/** Checked by hand. A schema library copies each entry, which was half of all garbage when a batch was made. */
function isEntry(value: unknown): value is RunEntry {
  if (!isObject(value)) return false;
  const { decision, cells, member, web3, balance, wallet } = value;
  return isDecision(decision) && isTexts(cells) && [member, web3, balance, wallet].every(isTextOrNull);
}

function isDecision(value: unknown): value is Decision {
  if (!isObject(value)) return false;
  const { member, line, tokens, leftOut, detail, condition, computed, steps } = value;
  return (
    typeof member === 'string' &&
    isRecordedMemberId(member) &&
    typeof line === 'number' &&
    typeof tokens === 'number' &&
    (leftOut === null || isLeftOut(leftOut)) &&
    (condition === null || typeof condition === 'boolean') &&
    [detail, computed].every(isTextOrNull) &&
    isTexts(steps)
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
