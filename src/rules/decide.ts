import { counted } from '../core/counted.js';
import { Fraction } from '../core/fraction.js';
import { TOKENS_MAX } from '../core/points.js';
import { spellValue } from './cel-values.js';
import { type Candidate, runStop, type Stop } from './decision.js';
import { type JudgeSetting, judgeAmount, judgeCondition } from './judge-member.js';
import { applyLimits, type Bounds, type Draft, finishDraft, leaveOut, startDraft } from './limits.js';
import type { Rounding, Rule } from './rule.js';

export type DecideSetting = JudgeSetting &
  Bounds & {
    /** Called with the index of each member before its judgement; -1 when all are judged. */
    readonly onMember: (index: number) => void;
  };

/** The number of expression faults to list. The first few show what is wrong with all. */
const FAULTS_LISTED_MAX = 20;

/**
 * Decides about a whole audience, in its order. Pure: the same rule, candidates and setting always give the same
 * decisions. It reads and writes nothing.
 */
export function decide(rule: Rule, candidates: readonly Candidate[], setting: DecideSetting) {
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

/** Evaluates all members, and returns the stops that concern the whole run. */
function judgeAll(rule: Rule, drafts: readonly Draft[], setting: DecideSetting): Stop[] {
  // The run stops because of this. The facts of the other members were not even read.
  if (drafts.some(({ candidate }) => candidate.wallet === 'undetermined')) {
    for (const draft of drafts)
      leaveOut(draft, draft.candidate.wallet === 'undetermined' ? 'wallet' : 'fault', 'not judged');
    return [];
  }
  const stops: Stop[] = [];
  for (const [index, draft] of drafts.entries()) {
    setting.onMember(index);
    const stop = judgeMember(rule, draft, setting);
    if (stop === null) continue;
    leaveOut(draft, 'fault', stop.message);
    if (stops.length < FAULTS_LISTED_MAX) stops.push(stop);
  }
  setting.onMember(-1);
  return stops;
}

/** Evaluates condition and award for one member. Returns a fault of the rule; every other result is in the draft. */
function judgeMember(rule: Rule, draft: Draft, setting: DecideSetting): Stop | null {
  const { candidate } = draft;
  if (candidate.already !== null) return leaveOut(draft, 'already', candidate.already);
  if (candidate.wallet !== null && candidate.wallet !== 'member')
    return leaveOut(draft, 'wallet', candidate.wallet);
  if (candidate.row.member === rule.from) return leaveOut(draft, 'giver');

  const condition = judgeCondition(rule, candidate, setting);
  if (condition.kind === 'fault') return condition.stop;
  if (condition.kind === 'missing') return leaveOut(draft, 'missing', condition.fact);
  draft.condition = rule.condition === null ? null : condition.value;
  if (!condition.value) return leaveOut(draft, 'condition');

  if (rule.award.kind === 'fixed') draft.amount = BigInt(rule.award.tokens);
  else {
    const expression = rule.award.kind === 'share' ? rule.award.weight : rule.award.tokens;
    const award = judgeAmount(rule, expression, candidate, setting);
    if (award.kind === 'fault') return award.stop;
    if (award.kind === 'missing') return leaveOut(draft, 'missing', award.fact);
    draft.amount = award.value;
  }
  draft.computed = spellValue(draft.amount);
  return null;
}

/** Rounds the computed awards to whole points, or shares out the pot. */
function settleAwards(rule: Rule, drafts: readonly Draft[], setting: DecideSetting, stops: Stop[]): void {
  const open = drafts.filter(({ leftOut }) => leftOut === null);
  if (rule.award.kind === 'share') {
    // Earlier runs of the period have already used part of the pot.
    const left = BigInt(rule.award.pot) - setting.awardedInPeriod;
    const shares = sharePot(
      left > 0n ? Number(left) : 0,
      open.map(({ amount }) => amount),
    );
    for (const [index, draft] of open.entries()) {
      draft.tokens = shares[index] ?? 0;
      draft.steps.push(`weight ${draft.computed} of a pot of ${left} gives ${draft.tokens}`);
    }
  } else for (const draft of open) roundAward(rule, draft, stops);
  for (const draft of open) if (draft.leftOut === null && draft.tokens === 0) leaveOut(draft, 'zero');
}

/** Rounds one award, or adds a stop if it is beyond the exact range. */
function roundAward(rule: Rule, draft: Draft, stops: Stop[]): void {
  const rounding = rule.award.kind === 'computed' ? rule.award.rounding : null;
  const whole = wholePoints(draft.amount, rounding);
  if (whole === null) {
    const message = `The award of member ${draft.candidate.row.member} is ${draft.computed}, which is beyond the exact range of points.`;
    stops.push(runStop('ALM_RULE_VALUE', message));
    leaveOut(draft, 'fault', message);
    return;
  }
  if (draft.computed !== String(whole))
    draft.steps.push(`${rounding ?? 'rounding'} makes ${whole} of ${draft.computed}`);
  draft.tokens = whole;
}

/** Limits a debit with a floor to the points above the floor. */
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

/** Rounds a number that is not negative to whole points. Null if it is beyond the exact range. */
function wholePoints(amount: bigint | Fraction, rounding: Rounding | null): number | null {
  // An expression with an integer type gives no fraction and needs no rounding.
  const whole = amount instanceof Fraction ? (rounding === null ? null : amount[rounding]()) : amount;
  return whole === null || whole > BigInt(TOKENS_MAX) ? null : Number(whole);
}

/**
 * Shares a pot in proportion to weights, in whole points. Each member gets the whole part of the share. The remaining
 * points go to the largest remainders; of two equal ones the earlier member comes first. The sum is the pot, or
 * nothing if no weight is above zero. The same input always gives the same shares.
 */
export function sharePot(pot: number, weights: readonly (bigint | Fraction)[]): number[] {
  const exact = weights.map((weight) => Fraction.of(weight).times(SCALE).round());
  const sum = exact.reduce((total, weight) => total + weight, 0n);
  if (sum === 0n || pot <= 0) return weights.map(() => 0);
  const points = BigInt(pot);
  const shares = exact.map((weight) => (points * weight) / sum);
  const left = Number(points - shares.reduce((total, share) => total + share, 0n));
  const byRemainder = exact
    .map((weight, index) => ({ index, remainder: (points * weight) % sum }))
    .sort((a, b) => (a.remainder === b.remainder ? a.index - b.index : a.remainder > b.remainder ? -1 : 1));
  const lucky = new Set(byRemainder.slice(0, left).map(({ index }) => index));
  return shares.map((share, index) => Number(share) + (lucky.has(index) ? 1 : 0));
}

/** Weights are compared to a millionth. An exact common denominator of all of them could fill the memory. */
const SCALE = new Fraction(1_000_000n, 1n);

/**
 * Stops the run if too many members lack a fact, or if the realm did not answer for a wallet. It then pays no member.
 */
function missingStops(rule: Rule, drafts: readonly Draft[]): Stop[] {
  const stops: Stop[] = [];
  const undetermined = drafts.filter(({ candidate }) => candidate.wallet === 'undetermined');
  if (undetermined.length > 0)
    stops.push(
      runStop(
        'ALM_RULE_WALLETS',
        `The realm did not answer whether the wallet of ${named(undetermined)} belongs to a member.`,
      ),
    );
  // Members that were left out before their facts were read do not count here.
  const asked = drafts.filter(
    ({ leftOut }) => leftOut !== 'already' && leftOut !== 'wallet' && leftOut !== 'giver',
  );
  const missing = asked.filter(({ leftOut }) => leftOut === 'missing');
  if (missing.length > asked.length * rule.maxMissing)
    stops.push(
      runStop(
        'ALM_RULE_MISSING_FACTS',
        `${missing.length} of ${counted(asked.length, 'member')} ${missing.length === 1 ? 'lacks' : 'lack'} a fact, more than maxMissing ${percent(rule.maxMissing)} allows: ${causes(missing)}.`,
      ),
    );
  return stops;
}

/** The three most frequent missing facts, for the message. */
function causes(missing: readonly Draft[]): string {
  const counts = new Map<string, number>();
  for (const { detail } of missing) counts.set(detail ?? '', (counts.get(detail ?? '') ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([fact, count]) => `${fact} (${count})`)
    .join(', ');
}

function named(drafts: readonly Draft[]): string {
  const first = drafts.slice(0, 3).map(({ candidate }) => candidate.row.member);
  return `${first.join(', ')}${drafts.length > 3 ? ` and ${drafts.length - 3} more` : ''}`;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))}%`;
}
