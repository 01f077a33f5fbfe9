import type { Role } from '../../core/people.js';
import { allLedgers, type ScriptClient, storeNowMs, withdrawApprovals } from '../../ledger/index.js';
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

/** What they approved and nobody has begun waits again: the batches; and rules that two gave their go, one of them they. */
export async function revokeToken(app: App, name: string): Promise<string[]> {
  const batches = await revokeIn(app.scripts, name, app.config.operator);
  await record(app, { what: `revoked desk token ${name}`, why: null, batches });
  return batches;
}

/** The same in a store that is about to take the place of another one. */
export async function revokeIn(scripts: ScriptClient, name: string, by: string): Promise<string[]> {
  await new Tokens(scripts).revoke(name);
  const isTheirs = (who: string | null | undefined) => who?.toLowerCase() === name.toLowerCase();
  for (const ledger of await allLedgers(scripts))
    for (const { rule } of await scheduledRules(ledger)) {
      const at = await storeNowMs(ledger);
      const takenBack = { who: by, at, why: `the token of ${name} was revoked` };
      await changeScheduledRule(ledger, rule, (known) => {
        if (known === null) return known;
        const { approved } = known;
        const asked = isTheirs(known.asked?.who) ? null : known.asked;
        // A go that one person gave, where nobody else was required, stays.
        const isOfTwo = approved?.asked != null && (isTheirs(approved.who) || isTheirs(approved.asked));
        return isOfTwo
          ? { ...known, asked, approved: null, takenBack, waitsSince: approved.at }
          : { ...known, asked };
      });
    }
  return withdrawApprovals(scripts, name);
}
