import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { carry } from '../core/errors/error.js';
import type { OnFile } from './audience.js';
import { runFacts } from './cel-values.js';
import { decide } from './decide.js';
import type { Candidate, Decision, LeftOut } from './decision.js';
import { Evaluator } from './expression.js';
import { judgeCondition } from './judge-member.js';
import type { Bounds } from './limits.js';
import { isAudienceOnly, loadRule } from './load-rule.js';
import { type AudienceRow, type PackedAudience, packSlice, unpackSlice } from './packed-audience.js';
import { type FaultyRule, fileStamp, type Rule } from './rule.js';
import { encodeEntries, entryOf, RUN_BLOCK_MEMBERS } from './run-record.js';

/**
 * The jobs that run in the thread of a rule. They do the heavy work, so that the process keeps answering.
 * rule-thread.ts requests one job at a time, and the thread keeps its data between jobs. Long lists are transferred
 * in slices, because deserializing a large message blocks the receiver.
 */
const { progress } = z.object({ progress: z.instanceof(Int32Array) }).parse(workerData);

/** Publishes the member that is judged now (-1: none), with a counter that distinguishes two judgements. */
function mark(index: number): void {
  Atomics.store(progress, 1, index);
  Atomics.add(progress, 0, 1);
}

/** The members of the list, in order. */
export type MemberList = {
  readonly first: readonly string[];
  /** All members, separated by blanks. Null if there are too many to store and compare. */
  readonly listed: string | null;
};

const FIRST = 20;
const LISTED_MAX = 20_000;

export type RuleHead =
  | {
      readonly name: string;
      readonly rule: Rule;
      readonly audience: Omit<PackedAudience, 'slices'> & MemberList;
    }
  | FaultyRule;

/** The result of reading a rule's files. */
export type Looked = {
  /** Null for a member list that rules refer to, which is no rule. */
  readonly head: RuleHead | null;
  /** Every file that the result rests on, with its stamp from before it was read. */
  readonly seen: readonly { readonly path: string; readonly stamp: string }[];
};

/** The totals of a decision. The decisions themselves are packed, one block at a time. */
export type DecisionTotals = Omit<ReturnType<typeof decide>, 'decisions'> & {
  readonly leftOut: Partial<Record<LeftOut, number>>;
};

type Work = { readonly rule: Rule; readonly columns: readonly string[]; readonly at: number };

let rows: readonly AudienceRow[] = [];
let work: (Work & { readonly evaluator: Evaluator }) | null = null;
let candidates: Candidate[] = [];
let decisions: readonly Decision[] = [];

async function load(path: string, file: string, onFile?: OnFile): Promise<RuleHead> {
  const result = await loadRule(path, file, onFile);
  if ('faults' in result) return result;
  const { rows: read, ...audience } = result.audience;
  rows = read;
  const ids = read.slice(0, LISTED_MAX).map(({ member }) => member);
  const listed = read.length > LISTED_MAX ? null : ids.join(' ');
  const list = { members: read.length, first: ids.slice(0, FIRST), listed };
  return { name: result.rule.name, rule: result.rule, audience: { ...audience, ...list } };
}

const jobs = {
  load: (path: string, file: string): Promise<RuleHead> => load(path, file),

  async look(path: string, file: string, named: boolean): Promise<Looked> {
    const seen: Looked['seen'][number][] = [];
    const note = async (read: string) => void seen.push({ path: read, stamp: await fileStamp(read) });
    await note(path);
    const isList = !named && (await isAudienceOnly(path));
    return { head: isList ? null : await load(path, file, note), seen };
  },

  slice: (slice: number): string => packSlice(rows, slice),

  begin(given: Work): void {
    work = { ...given, evaluator: new Evaluator() };
    candidates = [];
  },

  /** For each candidate, whether it meets the condition. */
  meeting(some: readonly Candidate[]): boolean[] {
    const { rule, ...setting } = begun();
    return some.map((candidate, index) => {
      mark(index);
      const judged = judgeCondition(rule, candidate, setting);
      return judged.kind === 'value' && judged.value;
    });
  },

  add(slice: string, read: readonly Omit<Candidate, 'row'>[]): void {
    for (const [at, row] of unpackSlice(slice).entries()) {
      const facts = read[at];
      if (facts === undefined) throw new Error('a member without what was read');
      candidates.push({ row, ...facts });
    }
  },

  decide(bounds: Bounds): DecisionTotals {
    const { rule, ...setting } = begun();
    const { decisions: made, ...decided } = decide(rule, candidates, {
      ...setting,
      ...bounds,
      onMember: mark,
    });
    decisions = made;
    const leftOut: Partial<Record<LeftOut, number>> = {};
    for (const { leftOut: why } of made) if (why !== null) leftOut[why] = (leftOut[why] ?? 0) + 1;
    return { ...decided, leftOut };
  },

  /** A block of the decisions, packed with the facts that they rest on. */
  block(number: number): Uint8Array {
    const from = number * RUN_BLOCK_MEMBERS;
    const some = decisions.slice(from, from + RUN_BLOCK_MEMBERS);
    return encodeEntries(some.map((decision, at) => entryOf(decision, candidates[from + at])));
  },

  /** Releases the data of earlier jobs, which may be a million members. */
  forget(): void {
    [rows, work, candidates, decisions] = [[], null, [], []];
  },
};

export type Jobs = typeof jobs;

function begun() {
  if (work === null) throw new Error('no rule was handed to the thread');
  const { rule, columns, at, evaluator } = work;
  return { rule, columns, run: runFacts(rule, at), evaluator };
}

type Asked = { [J in keyof Jobs]: { readonly job: J; readonly args: Parameters<Jobs[J]> } }[keyof Jobs];

parentPort?.on('message', async ({ job, args }: Asked) => {
  const reply = await carry(() => Reflect.apply(jobs[job], jobs, args));
  mark(-1);
  parentPort?.postMessage(reply);
});
