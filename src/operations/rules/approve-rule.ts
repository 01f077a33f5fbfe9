import { AlmonerError } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';
import { type RealmLedger, steering } from '../../ledger/index.js';
import { isApprovedByTwo, type StoredRule } from '../../rules/approvals.js';
import type { Rule } from '../../rules/rule.js';
import type { MemberList } from '../../rules/rule-jobs.js';
import type { Schedule } from '../../rules/schedule.js';
import type { App } from '../../runtime/app.js';
import { isRequired, personWith, requirementOf } from '../people/who.js';
import { ruleHash } from './before-go.js';

/** Approving a rule with a schedule: one person where no approvals are required, else one who asks and another who approves. */

/** `audience`: the hash of its members. */
export type TimedRule = Rule & {
  readonly schedule: Schedule;
  readonly audience: string;
  readonly members: MemberList;
};

/** The rule is approved now, or its approval was asked for and another person has to give it. */
export type Said = {
  readonly approved: StoredRule['approved'];
  readonly asked: string | null;
  /** It was not asked for before. */
  readonly isAskedNow: boolean;
};
export const UNSAID: Said = { approved: null, asked: null, isAskedNow: false };

/** `known`: the entry of this very text. */
export async function sayer(
  app: App,
  ledger: RealmLedger,
  {
    profile,
    isSaid,
    at,
    why,
  }: {
    readonly profile: RealmProfile;
    readonly isSaid: boolean;
    readonly at: number;
    readonly why: string | null;
  },
): Promise<(rule: TimedRule, known: StoredRule | null) => Promise<Said>> {
  if (!isSaid) return async () => UNSAID;
  if (!isRequired(requirementOf(profile))) {
    if (app.person !== null) await personWith(app, 'operator');
    const { person } = app;
    const who = person?.name ?? app.config.operator;
    const approved = { who, at, why, asked: null, byToken: person !== null, audience: null };
    return async (_, known) => (known?.approved == null ? { ...UNSAID, approved } : UNSAID);
  }
  const { name: who, roles } = await personWith(app, 'operator', 'approver');
  return async (rule, known) => {
    const { audience } = rule;
    if (known !== null && isApprovedByTwo(known.approved, audience)) return UNSAID;
    const hash = ruleHash(ledger, rule);
    const subject = { kind: 'rule', ledger, rule: rule.name } as const;
    const first = (await steering.approvals.ruleRequests(ledger)).get(rule.name);
    const isOther = first?.hash === hash && first.who.toLowerCase() !== who.toLowerCase();
    if (!isOther) {
      const answer = await steering.approvals.requestApproval(subject, { who, hash, why, text: rule.hash });
      return { approved: null, asked: who, isAskedNow: answer === 'asked' };
    }
    if (!roles.includes('approver'))
      throw new AlmonerError(
        'ALM_PEOPLE_ROLE',
        `${first.who} has asked for the approval of rule ${rule.name}; ${who} is ${roles.join(' and ')}, and approving needs approver. Nothing was approved.`,
      );
    const answer = await steering.approvals.approve(subject, { who, hash }, null);
    // Approved before, and cut off before the rule had it.
    const isApproved = answer === 'approved' || (answer === 'not-needed' && first.approved?.who === who);
    if (!isApproved)
      throw new AlmonerError(
        answer === 'disarmed' ? 'ALM_LEDGER_DISARMED' : 'ALM_PEOPLE_CHANGED',
        answer === 'disarmed'
          ? 'The store was restarted or restored, and journals that may know of payments are not merged yet. Nothing was approved.'
          : `What was asked for rule ${rule.name} is not what was shown. Nothing was approved.`,
      );
    return { ...UNSAID, approved: { who, at, why, asked: first.who, byToken: true, audience } };
  };
}
