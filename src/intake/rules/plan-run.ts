import { stringify } from 'lossless-json';
import type { RealmProfile } from '../../core/profile.js';
import { alreadyAwarded, awardedInPeriod } from './awarded.js';
import { decide } from './decide.js';
import type { Candidate, Decided, FactRead, LeftOut } from './decision.js';
import type { FactReader } from './gather-facts.js';
import { type OpenRunRequest, openRun } from './open-run.js';
import { readCandidates } from './read-candidates.js';
import { runFacts } from './run-facts.js';
import type { RunEntry, RunMeta } from './run-record.js';
import { forgetOldRuns, openFacts, putEntries, putRun } from './run-store.js';

export type PlanRunRequest = OpenRunRequest & {
  readonly profile: Pick<RealmProfile, 'caps' | 'wallets' | 'rate'>;
  readonly reads: FactReader;
  readonly stop: AbortSignal;
  /** Requests made for this plan, and how many it will be at most. */
  readonly onProgress: (made: number, most: number) => void;
  /** Milliseconds for the time limit of expressions. */
  readonly clock: () => number;
};

export type PlannedRun = { readonly meta: RunMeta; readonly decided: Decided; readonly resumed: boolean };

/**
 * From a rule to a plan: asks the ledger who was awarded already, reads the facts that are needed and no
 * others, decides, and freezes facts and decisions together. Interrupted at any moment, the next call goes on
 * with what was read. Nothing is paid here and nothing is promised: only a batch does that.
 */
export async function planRun(request: PlanRunRequest): Promise<PlannedRun> {
  const { books, rule, audience } = request;
  const { meta, resumed } = await openRun(request);
  const facts = await openFacts(books, meta.id);
  const run = runFacts(rule, meta.at);
  const already = await alreadyAwarded(books, rule.name, meta.period, audience.rows);
  const { candidates, requests } = await readCandidates({ ...request, facts, already, run });
  const decided = decide(rule, candidates, {
    columns: audience.columns,
    run,
    awardedInPeriod: await awardedInPeriod(books, rule.name, meta.period),
    maxTokensPerOrder: request.profile.caps.maxTokensPerOrder,
    clock: request.clock,
  });
  const entries = decided.decisions.map((decision, index) => entryOf(decision, candidates[index]));
  const planned: RunMeta = {
    ...meta,
    state: decided.stops.length > 0 ? 'stopped' : 'planned',
    plannedAt: request.now,
    awards: decided.awards,
    tokens: String(decided.tokens),
    leftOut: countLeftOut(decided),
    stops: [...decided.stops],
    requests,
    blocks: await putEntries(books, meta.id, entries),
  };
  await putRun(books, planned);
  await facts.drop();
  await forgetOldRuns(books, rule.name, rule.keepRuns);
  return { meta: planned, decided, resumed };
}

function entryOf(decision: Decided['decisions'][number], candidate: Candidate | undefined): RunEntry {
  if (candidate === undefined) throw new Error('a decision without a candidate');
  const { row, member, web3, wallet } = candidate;
  return {
    decision: { ...decision, steps: [...decision.steps] },
    cells: [...row.cells],
    member: recordText(member),
    web3: recordText(web3),
    balance: member.kind === 'found' ? member.balance : null,
    wallet,
  };
}

function recordText(fact: FactRead): string | null {
  return fact.kind === 'found' ? (stringify(fact.record) ?? null) : null;
}

function countLeftOut({ decisions }: Decided): Partial<Record<LeftOut, number>> {
  const counts: Partial<Record<LeftOut, number>> = {};
  for (const { leftOut } of decisions) if (leftOut !== null) counts[leftOut] = (counts[leftOut] ?? 0) + 1;
  return counts;
}
