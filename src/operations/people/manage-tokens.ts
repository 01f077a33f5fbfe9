import type { Role } from '../../core/people.js';
import { allLedgers, type ScriptClient, steering, storeNowMs } from '../../ledger/index.js';
import { changeScheduledRule, scheduledRules } from '../../rules/approvals.js';
import type { App } from '../../runtime/app.js';
import { registerSecret } from '../../runtime/redaction.js';
import { record } from './audit.js';
import { Tokens } from './tokens.js';

/** Giving and taking the right to act. */
export async function addToken(app: App, name: string, roles: readonly Role[]): Promise<string> {
  const given = [...new Set(roles)];
  const token = await new Tokens(app.scripts).add(name, given, madeBy(app), Date.now());
  registerSecret(token);
  await record(app, { what: `added desk token ${name} (${given.join(', ')})`, why: null });
  return token;
}

/** Told apart from a token of the same name: a user of the system is nobody known. */
function madeBy({ person, config }: App): string {
  return person?.name ?? `${config.operator} (command line)`;
}

/** A rule that lost an approval of two people, one of them the person, or their request for one. */
type RuleWithdrawn = {
  readonly realm: string;
  readonly rule: string;
  readonly lost: 'approval' | 'request';
};

/** `waiting`: batches that they had approved and that had not begun. */
export type Withdrawn = { readonly waiting: readonly string[]; readonly rules: readonly RuleWithdrawn[] };

export const isSamePerson = (who: string | null | undefined, name: string) =>
  who?.toLowerCase() === name.toLowerCase();

/** The same in a store that is about to take the place of another one. */
export async function revokeIn(scripts: ScriptClient, name: string, by: string): Promise<Withdrawn> {
  await new Tokens(scripts).revoke(name);
  const isTheirs = (who: string | null | undefined) => isSamePerson(who, name);
  const rules: RuleWithdrawn[] = [];
  for (const ledger of await allLedgers(scripts))
    for (const { rule } of await scheduledRules(ledger)) {
      const at = await storeNowMs(ledger);
      const takenBack = { who: by, at, why: `the token of ${name} was revoked` };
      const { before, after } = await changeScheduledRule(ledger, rule, (known) => {
        if (known === null) return known;
        const { approved } = known;
        // A go that one person gave, where nobody else was required, stays.
        const isOfTwo = approved?.asked != null && (isTheirs(approved.who) || isTheirs(approved.asked));
        return isOfTwo ? { ...known, approved: null, takenBack, waitsSince: approved.at } : known;
      });
      const of = { realm: ledger.realm.name, rule };
      if (before?.approved != null && after?.approved == null) rules.push({ ...of, lost: 'approval' });
    }
  const withdrawn = await steering.approvals.withdrawApprovals(scripts, name);
  rules.push(...withdrawn.rules.map((one) => ({ ...one, lost: 'request' as const })));
  rules.sort((one, other) => one.rule.localeCompare(other.rule));
  return { waiting: withdrawn.batches, rules };
}
