import type { RealmProfile } from '../core/profile.js';
import { notes, type RealmLedger } from '../ledger/index.js';
import { awardsOf } from './awards.js';
import { periodName } from './calendar.js';
import type { FactReader } from './gather-facts.js';
import type { Bounds } from './limits.js';
import { memberAt, type PackedAudience, rowsOf, unpackSlice } from './packed-audience.js';
import { type ReadRequest, readCandidates } from './read-candidates.js';
import { awardExpression, type Rule } from './rule.js';
import type { DecisionTotals } from './rule-jobs.js';
import { type RuleThread, withRuleThread } from './rule-thread.js';
import { RUN_BLOCK_MEMBERS, type RunMeta } from './run-record.js';
import { changeRun, forgetOldRuns, listRuns, putRun } from './run-store.js';

export type PlanRunRequest = OpenRunRequest & {
  readonly profile: Pick<RealmProfile, 'caps' | 'wallets' | 'rate' | 'currency'>;
  readonly reads: FactReader;
  readonly stop: AbortSignal;
  /** Requests made so far, and the maximum for this plan. */
  readonly onProgress: (made: number, most: number) => void;
  /** Passed in when one thread serves many runs. */
  readonly thread?: RuleThread;
};

/** A finished plan; `resumed` if it continued an interrupted one. */
export type PlannedRun = { readonly meta: RunMeta; readonly resumed: boolean };

/**
 * Plans a run of a rule: asks the ledger for earlier awards, reads only the needed facts, decides, and stores facts
 * and decisions together. If it is interrupted, the next call continues with the facts that were read. A plan pays
 * nothing; only a batch does.
 */
export async function planRun(request: PlanRunRequest): Promise<PlannedRun> {
  const { ledger, rule, audience } = request;
  const { meta, resumed } = await openRun(request);
  const facts = await notes.ruleRuns.openFacts(ledger, meta.id);
  const { decided, requests, blocks } = await decideAudience({
    ...request,
    ...(await awardsOf(ledger, request.profile, { rule: rule.name, period: meta.period }, rowsOf(audience))),
    at: meta.at,
    facts,
    keep: (block, bytes) => notes.ruleRuns.putDecisions(ledger, meta.id, block, bytes),
  });
  const planned: RunMeta = {
    ...meta,
    state: decided.stops.length > 0 ? 'stopped' : 'planned',
    plannedAt: request.now,
    awards: decided.awards,
    tokens: String(decided.tokens),
    leftOut: decided.leftOut,
    stops: [...decided.stops],
    requests,
    blocks,
  };
  // A plan never replaces a run that has a batch.
  await changeRun(ledger, meta.id, (known) => (known === null || known.batch === null ? planned : null));
  await facts.drop();
  await forgetOldRuns(ledger, rule.name, rule.keepRuns);
  return { meta: planned, resumed };
}

type OpenRunRequest = {
  readonly profile: Pick<RealmProfile, 'currency'>;
  readonly ledger: RealmLedger;
  readonly rule: Rule;
  readonly audience: PackedAudience;
  /** The time that the run stands for. */
  readonly at: number;
  readonly now: number;
  readonly newId: string;
  readonly who: string;
  readonly scheduled: boolean;
};

/** How long an unfinished plan can be resumed. Older facts are out of date. */
const RESUMED_WITHIN_MS = 24 * 3_600_000;

/**
 * Resumes an interrupted plan of the same rule, audience and period, or begins one. Either way the run gets a new id,
 * which no other process writes.
 */
async function openRun(request: OpenRunRequest): Promise<{ meta: RunMeta; resumed: boolean }> {
  const { ledger, rule, audience, at, now } = request;
  const period = periodName(rule.period, at, rule.zone);
  const audienceHash = audience.hash;
  const isOpen = (run: RunMeta) =>
    run.state === 'reading' &&
    run.rule === rule.name &&
    run.ruleHash === rule.hash &&
    run.audienceHash === audienceHash &&
    run.period === period &&
    run.currency === request.profile.currency &&
    run.scheduled === request.scheduled &&
    (!run.scheduled || run.at === at) &&
    now - run.startedAt < RESUMED_WITHIN_MS;
  for (const open of (await listRuns(ledger)).filter(isOpen).reverse()) {
    const taken = { ...open, id: request.newId };
    if (await notes.ruleRuns.takeReading(ledger, open.id, taken)) return { meta: taken, resumed: true };
  }
  const meta: RunMeta = {
    id: request.newId,
    rule: rule.name,
    ruleHash: rule.hash,
    audienceHash,
    file: rule.path,
    period,
    at,
    zone: rule.zone,
    startedAt: now,
    plannedAt: null,
    state: 'reading',
    scheduled: request.scheduled,
    who: request.who,
    op: rule.op,
    currency: request.profile.currency,
    condition: rule.condition?.text ?? null,
    award: awardText(rule),
    reason: rule.reason,
    from: rule.from,
    periodMax: periodMax(rule),
    columns: [...audience.columns],
    members: audience.members,
    awards: 0,
    tokens: '0',
    leftOut: {},
    stops: [],
    requests: 0,
    blocks: 0,
    number: null,
    batch: null,
  };
  await putRun(ledger, meta);
  return { meta, resumed: false };
}

function periodMax({ limits, award }: Rule): number | null {
  const bounds = [limits.perPeriod, award.kind === 'share' ? award.pot : null].filter(
    (bound) => bound !== null,
  );
  return bounds.length === 0 ? null : Math.min(...bounds);
}

function awardText(rule: Rule): string {
  const { award } = rule;
  if (award.kind === 'fixed') return String(award.tokens);
  const text = awardExpression(rule)?.text ?? '';
  return award.kind === 'share' ? `a share of ${award.pot} by ${text}` : text;
}

type DecideRequest = Omit<ReadRequest, 'judging'> & {
  /** The time that the run stands for. */
  readonly at: number;
  /** Replaces the rule's own share when a single member is tried. */
  readonly maxMissing?: number;
  readonly bounds: () => Promise<Bounds>;
  readonly thread?: RuleThread;
  /** Stores a block of decisions with their facts. */
  readonly keep: (block: number, bytes: Uint8Array) => Promise<void>;
};

/**
 * Reads the needed facts and decides about a whole audience in a separate thread. The thread does the heavy work, so
 * this process keeps answering.
 */
export async function decideAudience(
  request: DecideRequest,
): Promise<{ readonly decided: DecisionTotals; readonly requests: number; readonly blocks: number }> {
  const { rule, audience, at, maxMissing = rule.maxMissing } = request;
  const { members, slices } = audience;
  const judging = <T>(work: (thread: RuleThread) => Promise<T>) =>
    withRuleThread(
      request.stop,
      async (thread) => {
        await thread.ask('begin', { rule: { ...rule, maxMissing }, columns: audience.columns, at });
        return work(thread);
      },
      request.thread,
    );
  const { readOf, requests } = await readCandidates({
    ...request,
    judging: (work) =>
      judging((thread) =>
        work((some) => {
          const judged = { rule, members, memberAt: (index: number) => some[index]?.row.member ?? '' };
          return thread.judge(judged, 'meeting', some);
        }),
      ),
  });
  const blocks = Math.ceil(members / RUN_BLOCK_MEMBERS);
  const decided = await judging(async (thread) => {
    for (const slice of slices) await thread.ask('add', slice, unpackSlice(slice).map(readOf));
    const judged = { rule, members, memberAt: (index: number) => memberAt(audience, index) };
    const outcome = await thread.judge(judged, 'decide', await request.bounds());
    for (let block = 0; block < blocks; block++) await request.keep(block, await thread.ask('block', block));
    return outcome;
  });
  return { decided, requests, blocks };
}
