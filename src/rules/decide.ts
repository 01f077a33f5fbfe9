import { spellValue } from './cel-values.js';
import type { Candidate, Decided, Stop } from './decision.js';
import { type Draft, finishDraft, leaveOut, startDraft } from './draft.js';
import { type Judged, type JudgeSetting, judgeAmount, judgeCondition } from './judge-member.js';
import { applyLimits } from './limits.js';
import { missingStops } from './missing-stops.js';
import { wholePoints } from './rounding.js';
import { awardExpression, type Rule } from './rule.js';
import { sharePot } from './share.js';

/** What the books and the realm allow besides the rule. */
export type Bounds = {
  /** What earlier runs of the period were awarded and did not give back. */
  readonly awardedInPeriod: bigint;
  /** The realm's own cap for one order. */
  readonly maxTokensPerOrder: number | null;
};

export type DecideSetting = JudgeSetting &
  Bounds & {
    /** Before a member is judged, by its place in the audience; -1 when all are. */
    readonly onMember: (index: number) => void;
  };

/** Expression faults are listed up to here; the first few show what is wrong with all. */
const FAULTS_LISTED_MAX = 20;

/**
 * Decides over a whole audience, in its order. Pure: the same rule, candidates and setting always give the
 * same decisions, and nothing is read or written.
 */
export function decide(rule: Rule, candidates: readonly Candidate[], setting: DecideSetting): Decided {
  const drafts = candidates.map(startDraft);
  const stops = judgeAll(rule, drafts, setting);
  settleAwards(rule, drafts, setting, stops);
  for (const draft of drafts) holdFloor(rule, draft);
  stops.push(...applyLimits(rule, drafts, setting), ...missingStops(rule, drafts));
  const decisions = drafts.map(finishDraft);
  const awarded = decisions.filter(({ leftOut }) => leftOut === null);
  return {
    decisions,
    stops,
    awards: awarded.length,
    tokens: awarded.reduce((sum, { tokens }) => sum + BigInt(tokens), 0n),
  };
}

function judgeAll(rule: Rule, drafts: readonly Draft[], setting: DecideSetting): Stop[] {
  const stops: Stop[] = [];
  let faults = 0;
  // The run stops over it, and the facts of the others were not even asked for.
  if (drafts.some(({ candidate }) => candidate.wallet === 'undetermined')) {
    for (const draft of drafts)
      leaveOut(draft, draft.candidate.wallet === 'undetermined' ? 'wallet' : 'fault', 'not judged');
    return stops;
  }
  for (const [index, draft] of drafts.entries()) {
    setting.onMember(index);
    const fault = judgeMember(rule, draft, setting);
    if (fault !== null) {
      faults += 1;
      leaveOut(draft, 'fault', fault.stop.message);
      if (faults <= FAULTS_LISTED_MAX) stops.push(fault.stop);
    }
  }
  setting.onMember(-1);
  return stops;
}

type Fault = Extract<Judged, { kind: 'fault' }>;

/** Condition and award of one member; a fault of the rule is handed back, everything else is in the draft. */
function judgeMember(rule: Rule, draft: Draft, setting: DecideSetting): Fault | null {
  const { candidate } = draft;
  if (candidate.already !== null) return out(draft, 'already', candidate.already);
  if (candidate.wallet !== null && candidate.wallet !== 'member')
    return out(draft, 'wallet', candidate.wallet);
  if (candidate.row.member === rule.from) return out(draft, 'giver');

  const condition = judgeCondition(rule, candidate, setting);
  if (condition.kind === 'fault') return condition;
  if (condition.kind === 'missing') return out(draft, 'missing', condition.fact);
  draft.condition = rule.condition === null ? null : condition.holds === true;
  if (condition.holds !== true) return out(draft, 'condition');

  const expression = awardExpression(rule);
  if (expression === null) {
    draft.amount = rule.award.kind === 'fixed' ? BigInt(rule.award.tokens) : 0n;
    draft.computed = String(draft.amount);
    return null;
  }
  const award = judgeAmount(rule, expression, candidate, setting);
  if (award.kind === 'fault') return award;
  if (award.kind === 'missing') return out(draft, 'missing', award.fact);
  draft.amount = award.amount ?? 0n;
  draft.computed = spellValue(draft.amount);
  return null;
}

function out(draft: Draft, why: Parameters<typeof leaveOut>[1], detail: string | null = null): null {
  leaveOut(draft, why, detail);
  return null;
}

/** From what the expressions gave to whole points. */
function settleAwards(rule: Rule, drafts: readonly Draft[], setting: DecideSetting, stops: Stop[]): void {
  const open = drafts.filter(({ leftOut, amount }) => leftOut === null && amount !== null);
  if (rule.award.kind === 'share') {
    // What earlier runs of the period gave away is gone from the pot.
    const left = BigInt(rule.award.pot) - setting.awardedInPeriod;
    const shares = sharePot(
      left > 0n ? Number(left) : 0,
      open.map(({ amount }) => amount ?? 0n),
    );
    for (const [index, draft] of open.entries()) {
      draft.tokens = shares[index] ?? 0;
      draft.steps.push(`weight ${draft.computed} of a pot of ${left} gives ${draft.tokens}`);
    }
  } else for (const draft of open) roundAward(rule, draft, stops);
  for (const draft of drafts) if (draft.leftOut === null && draft.tokens === 0) leaveOut(draft, 'zero');
}

function roundAward(rule: Rule, draft: Draft, stops: Stop[]): void {
  const rounding = rule.award.kind === 'computed' ? rule.award.rounding : null;
  const whole = wholePoints(draft.amount ?? 0n, rounding);
  if (whole === null) {
    const message = `The award of member ${draft.candidate.row.member} is ${draft.computed}, which is no number of points that can be counted exactly.`;
    stops.push({ code: 'ALM_RULE_VALUE', message, line: null, column: null });
    leaveOut(draft, 'fault', message);
    return;
  }
  if (draft.computed !== String(whole))
    draft.steps.push(`${rounding ?? 'rounding'} makes ${whole} of ${draft.computed}`);
  draft.tokens = whole;
}

/** A debit with a floor takes only what is above it. */
function holdFloor(rule: Rule, draft: Draft): void {
  if (rule.floor === null || draft.leftOut !== null) return;
  const { member } = draft.candidate;
  if (member.kind !== 'found' || member.balance === null) {
    leaveOut(draft, 'missing', member.kind === 'absent' ? member.why : 'balance');
    return;
  }
  const above = BigInt(member.balance) - BigInt(rule.floor);
  if (above <= 0n) leaveOut(draft, 'floor', `balance ${member.balance}, floor ${rule.floor}`);
  else if (BigInt(draft.tokens) > above) {
    draft.steps.push(
      `floor ${rule.floor} cuts ${draft.tokens} to ${above}, as the balance is ${member.balance}`,
    );
    draft.tokens = Number(above);
  }
}
