import type { Stop } from './decision.js';
import type { Draft } from './draft.js';
import type { Rule } from './rule.js';

/** Too many members without a fact, or a wallet that the realm said nothing about: nobody is paid then. */
export function missingStops(rule: Rule, drafts: readonly Draft[]): Stop[] {
  const stops: Stop[] = [];
  const undetermined = drafts.filter(({ candidate }) => candidate.wallet === 'undetermined');
  if (undetermined.length > 0)
    stops.push({
      code: 'ALM_RULE_WALLETS',
      message: `The realm did not say whether the wallet of ${named(undetermined)} belongs to a member.`,
      line: null,
      column: null,
    });
  // Members who were out before any fact was asked for say nothing about the facts.
  const asked = drafts.filter(
    ({ leftOut }) => leftOut !== 'already' && leftOut !== 'wallet' && leftOut !== 'giver',
  );
  const missing = asked.filter(({ leftOut }) => leftOut === 'missing');
  if (missing.length > asked.length * rule.maxMissing)
    stops.push({
      code: 'ALM_RULE_MISSING_FACTS',
      message: `${missing.length} of ${asked.length} members lack a fact, more than maxMissing ${percent(rule.maxMissing)} allows: ${causes(missing)}.`,
      line: null,
      column: null,
    });
  return stops;
}

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
