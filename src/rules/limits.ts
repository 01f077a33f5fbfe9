import { counted } from '../core/counted.js';
import type { Fraction } from '../core/fraction.js';
import { ACCOUNT_MOST } from '../core/points.js';
import { type Candidate, type Decision, type LeftOut, runStop, type Stop } from './decision.js';
import type { LimitName, Rule } from './rule.js';

/** Limits from the ledger and the realm, in addition to the rule's own. */
export type Bounds = {
  /** Tokens that earlier runs of the period awarded and did not return. */
  readonly awardedInPeriod: bigint;
  /** The realm's cap for one order. */
  readonly maxTokensPerOrder: number | null;
};

/**
 * Applies the rule's limits to the awards. A limit stops the run, or cuts awards if the rule says so. `perMember`
 * cuts each member's award. `perRun` and `perPeriod` cut the awards of later members to what is left.
 */
export function applyLimits(rule: Rule, drafts: readonly Draft[], bounds: Bounds): Stop[] {
  const stops: Stop[] = [];
  const awarded = drafts.filter(({ leftOut }) => leftOut === null);
  stops.push(...perMember(rule, awarded));
  for (const draft of awarded) belowMinimum(rule, draft);
  const left = {
    perRun: rule.limits.perRun === null ? null : BigInt(rule.limits.perRun),
    perPeriod: rule.limits.perPeriod === null ? null : BigInt(rule.limits.perPeriod) - bounds.awardedInPeriod,
  };
  for (const name of ['perRun', 'perPeriod'] as const)
    if (rule.cut.has(name)) cutLater(rule, awarded, name, left[name]);
  const total = awarded.reduce((sum, { tokens }) => sum + BigInt(tokens), 0n);
  for (const name of ['perRun', 'perPeriod'] as const) {
    const budget = left[name];
    if (budget !== null && total > budget) stops.push(overTotal(rule, name, { total, budget }, bounds));
  }
  if (left.perPeriod === null && total + bounds.awardedInPeriod > ACCOUNT_MOST)
    stops.push(
      limitStop(
        `The awards of the period add up to ${total + bounds.awardedInPeriod}, more than the ${ACCOUNT_MOST} that the ledger holds for one rule and period.`,
      ),
    );
  stops.push(...overOrderCap(awarded, bounds.maxTokensPerOrder));
  return stops;
}

/** Applies the limit per member: cuts the awards, or returns the stop. */
function perMember(rule: Rule, awarded: readonly Draft[]): Stop[] {
  const limit = rule.limits.perMember;
  if (limit === null) return [];
  const over = awarded.filter(({ tokens }) => tokens > limit);
  if (rule.cut.has('perMember')) {
    for (const draft of over) cut(draft, limit, `limits.perMember ${limit}`);
    return [];
  }
  const largest = over.reduce((most, { tokens }) => Math.max(most, tokens), 0);
  return over.length === 0
    ? []
    : [limitStop(`${members(over)} would get more than limits.perMember ${limit} (at most ${largest}).`)];
}

/** Cuts the awards of later members to what the budget leaves. */
function cutLater(rule: Rule, awarded: readonly Draft[], name: LimitName, budget: bigint | null): void {
  if (budget === null) return;
  let left = budget < 0n ? 0n : budget;
  for (const draft of awarded) {
    if (draft.leftOut !== null) continue;
    if (BigInt(draft.tokens) > left) {
      const words = `limits.${name} ${rule.limits[name]}`;
      if (left === 0n) leaveOut(draft, 'limit', `${words} was used up by earlier members`);
      else cut(draft, Number(left), words);
      belowMinimum(rule, draft);
    }
    left -= BigInt(draft.tokens);
  }
}

function belowMinimum(rule: Rule, draft: Draft): void {
  if (draft.leftOut !== null || rule.minimum === null || draft.tokens >= rule.minimum) return;
  leaveOut(draft, 'minimum', `${draft.tokens} is less than limits.minimum ${rule.minimum}`);
}

function cut(draft: Draft, to: number, words: string): void {
  draft.steps.push(`${words} cuts ${draft.tokens} to ${to}`);
  draft.tokens = to;
}

/** The stop for awards that exceed a limit in total. */
function overTotal(
  rule: Rule,
  name: LimitName,
  { total, budget }: { readonly total: bigint; readonly budget: bigint },
  { awardedInPeriod }: Bounds,
): Stop {
  const earlier = name === 'perPeriod' ? `, of which earlier runs of the period had ${awardedInPeriod}` : '';
  return limitStop(
    `The awards add up to ${total}, ${total - budget} more than limits.${name} ${rule.limits[name]} allows${earlier}.`,
  );
}

/** The stop for awards above the realm's cap for one order. */
function overOrderCap(awarded: readonly Draft[], cap: number | null): Stop[] {
  const over = cap === null ? [] : awarded.filter(({ tokens }) => tokens > cap);
  return over.length === 0
    ? []
    : [
        limitStop(
          `${members(over)} would get more than ${cap}, the realm’s cap for one order (maxTokensPerOrder).`,
        ),
      ];
}

function limitStop(message: string): Stop {
  return runStop('ALM_RULE_OVER_LIMIT', message);
}

function members(drafts: readonly Draft[]): string {
  const named = drafts.slice(0, 3).map(({ candidate }) => candidate.row.member);
  return drafts.length > 3
    ? `${counted(drafts.length, 'member')} (${named.join(', ')}, …)`
    : `${drafts.length === 1 ? 'Member' : 'Members'} ${named.join(', ')}`;
}

/**
 * A decision in progress. `amount` is the result of the award's expression; `tokens` is what the limits have left of
 * it.
 */
export type Draft = {
  readonly candidate: Candidate;
  amount: bigint | Fraction;
  readonly steps: string[];
} & { -readonly [part in 'leftOut' | 'detail' | 'condition' | 'computed' | 'tokens']: Decision[part] };

/** Begins a decision with no award. */
export function startDraft(candidate: Candidate): Draft {
  return {
    candidate,
    leftOut: null,
    detail: null,
    condition: null,
    amount: 0n,
    computed: null,
    tokens: 0,
    steps: [],
  };
}

/** Leaves a member out. Returns null, which the caller can return in turn. */
export function leaveOut(draft: Draft, why: LeftOut, detail: string | null = null): null {
  draft.leftOut = why;
  draft.detail = detail;
  draft.tokens = 0;
  return null;
}

/** Ends a decision: the draft without its working values. */
export function finishDraft({ candidate, amount: _, ...draft }: Draft): Decision {
  return { member: candidate.row.member, line: candidate.row.line, ...draft };
}
