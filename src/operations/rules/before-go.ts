import { readFile } from 'node:fs/promises';
import { approvalHash } from '../../core/approvals.js';
import { inCurrency } from '../../core/currencies.js';
import { spellMoment, wallOf } from '../../core/zones.js';
import type { RealmLedger } from '../../ledger/index.js';
import { approvedTexts } from '../../rules/approvals.js';
import { periodName } from '../../rules/calendar.js';
import { hashOf } from '../../rules/load-rule.js';
import { awardExpression, type Rule } from '../../rules/rule.js';
import type { RuleHead } from '../../rules/rule-jobs.js';
import { nextTimes, type Schedule } from '../../rules/schedule.js';
import { lineDiff } from '../../words/line-diff.js';
import { counted, grouped } from '../../words/spelling.js';
import { isRequired } from '../people/who.js';
import type { Rule as RuleView } from '../views/rule.js';
import type { Raw } from '../views/shown.js';
import { membersBefore } from './rule-members.js';

/** What a person looks at before a rule is approved: the text, what changed of it, and its members. */
export async function beforeGo(
  { rule, audience }: Extract<RuleHead, { readonly rule: Rule }>,
  ledger: RealmLedger,
): Promise<RuleView['text']> {
  const content = await readFile(rule.path, 'utf8').catch(() => null);
  if (content === null) return null;
  const before = await approvedTexts(ledger).get(yardstickOf(ledger, rule.name));
  const difference = before === null ? null : lineDiff(before, content);
  const hash = ruleHash(ledger, { ...rule, hash: hashOf(content), audience: audience.hash });
  const members = await membersBefore(ledger, yardstickOf(ledger, rule.name), audience);
  return { content, hash, difference, members };
}

/**
 * Under which name the text and the members stand that were approved last. Where approvals are required, what one person
 * approved with other limits is not what a change is shown against.
 */
export function yardstickOf({ asked }: Pick<RealmLedger, 'asked'>, rule: string): string {
  return isRequired(asked.requirement) ? `${rule} by two` : rule;
}

type ToApprove = Pick<Rule, 'name' | 'hash' | 'limits' | 'schedule' | 'period' | 'currency'> & {
  /** Hash of its members. */
  readonly audience: string;
};

/** Of all that an approver of a rule is shown: its text, its members, limits and times. */
export function ruleHash(
  ledger: RealmLedger,
  { name, hash, audience, limits, schedule, period, currency }: ToApprove,
): string {
  return approvalHash('rule', {
    ledger: ledger.id,
    rule: name,
    text: hash,
    members: audience,
    limits,
    schedule,
    period,
    currency,
  });
}

const NEXT_SHOWN = 10;

export function nextRuns(
  rule: Pick<Rule, 'period' | 'zone'>,
  schedule: Schedule,
  after: number,
): Raw<RuleView['nextRuns'], 'at'> {
  return nextTimes(schedule, after, NEXT_SHOWN).map((at) => ({
    at,
    period: periodName(rule.period, at, rule.zone),
    words: `${spellMoment(at, rule.zone)} (${offsetOf(at, rule.zone)})`,
  }));
}

function offsetOf(at: number, zone: string): string {
  const minutes = Math.round((wallOf(at, zone) - at) / 60_000);
  const two = (part: number) => String(Math.floor(part)).padStart(2, '0');
  return `UTC${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
}

const PERIOD_WORDS = { once: 'once for all', day: 'once a day', week: 'once a week', month: 'once a month' };

/** What a rule pays, to whom and how much at most. */
export function ruleWords(rule: Rule, members: number): string[] {
  const { op, award, condition, period, limits, cut, minimum, floor, from, maxMissing } = rule;
  const whom = `${counted(members, 'member')} of the audience as it stands now`;
  const who = condition === null ? '' : `, where ${condition.text}`;
  const amount =
    award.kind === 'fixed'
      ? counted(award.tokens, 'token')
      : award.kind === 'share'
        ? `a share of ${counted(award.pot, 'token')}, by ${awardExpression(rule)?.text}`
        : `${award.tokens.text} tokens${award.rounding === null ? '' : ` (${award.rounding})`}`;
  const act = { credit: 'Gives', debit: 'Takes', transfer: `Moves from member ${from}` }[op];
  const most = (name: keyof typeof limits, what: string) => {
    const limit = limits[name];
    if (limit === null) return [];
    const over = cut.has(name)
      ? 'what is beyond it is cut'
      : 'a run beyond it is stopped before anything is paid';
    return [`At most ${grouped(limit)} tokens ${what}; ${over}.`];
  };
  const open =
    limits.perPeriod === null && award.kind !== 'share'
      ? [`No limit for all runs of a period together.`]
      : [];
  return [
    `${act} ${amount} each${inCurrency(rule.currency)}, ${PERIOD_WORDS[period]}: ${whom}${who}.`,
    ...most('perMember', 'for one member'),
    ...most('perRun', 'in one run'),
    ...most('perPeriod', 'in all runs of a period'),
    ...open,
    ...(minimum === null ? [] : [`Awards below ${counted(minimum, 'token')} are left out.`]),
    ...(floor === null ? [] : [`Nobody is taken below ${counted(floor, 'token')}.`]),
    `A run stops where more than ${Math.round(maxMissing * 10_000) / 100} % of the members lack a fact.`,
  ];
}
