import type { RealmLedger } from '../ledger/realm-ledger.js';
import type { PackedAudience } from './packed-audience.js';
import { periodName } from './period.js';
import { awardExpression, type Rule } from './rule.js';
import type { RunMeta } from './run-record.js';
import { listRuns, putRun, takeReading } from './run-store.js';

export type OpenRunRequest = {
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

/** An unfinished plan is gone on with for this long; after that its facts are too old. */
const RESUMED_WITHIN_MS = 24 * 3_600_000;

/**
 * Goes on with a plan of the same rule, audience and period whose reading was interrupted, or begins one. Either way the
 * run has a new id, under which nobody else writes.
 */
export async function openRun(request: OpenRunRequest): Promise<{ meta: RunMeta; resumed: boolean }> {
  const { ledger, rule, audience, at, now } = request;
  const period = periodName(rule.period, at, rule.zone);
  const audienceHash = audience.hash;
  const isOpen = (run: RunMeta) =>
    run.state === 'reading' &&
    run.rule === rule.name &&
    run.ruleHash === rule.hash &&
    run.audienceHash === audienceHash &&
    run.period === period &&
    run.scheduled === request.scheduled &&
    (!run.scheduled || run.at === at) &&
    now - run.startedAt < RESUMED_WITHIN_MS;
  for (const open of (await listRuns(ledger)).filter(isOpen).reverse()) {
    const taken = { ...open, id: request.newId };
    if (await takeReading(ledger, open.id, taken)) return { meta: taken, resumed: true };
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
