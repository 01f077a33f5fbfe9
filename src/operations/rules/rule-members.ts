import type { RealmLedger } from '../../ledger/index.js';
import { csvLine } from '../../report/csv-files.js';
import { approvedMembers } from '../../rules/approvals.js';
import { type PackedAudience, rowsOf } from '../../rules/packed-audience.js';
import type { MemberList } from '../../rules/rule-jobs.js';
import type { Rule } from '../views/rule.js';

type Members = NonNullable<Rule['text']>['members'];
type Side = NonNullable<Members['changed']>['added'];

const SHOWN = 20;

/** Who is in a rule's list, and what differs from the list that was approved last: an approver looks at both. */
export async function membersBefore(
  ledger: RealmLedger,
  rule: string,
  { members: count, first, listed }: MemberList & Pick<PackedAudience, 'members'>,
): Promise<Members> {
  const before = await approvedMembers(ledger).get(rule);
  if (before === null || listed === null) return { count, first, changed: null };
  const [known, present] = [before.split(' '), listed.split(' ')];
  return { count, first, changed: { added: without(present, known), gone: without(known, present) } };
}

function without(members: readonly string[], others: readonly string[]): Side {
  const known = new Set(others);
  const left = members.filter((member) => !known.has(member));
  return { count: left.length, first: left.slice(0, SHOWN) };
}

/** Kept with an approval, for the next one to be compared with. */
export async function keepMembers(ledger: RealmLedger, rule: string, { listed }: MemberList): Promise<void> {
  if (listed === null) await approvedMembers(ledger).forget(rule);
  else await approvedMembers(ledger).put(rule, listed);
}

/** One line for each member, with the columns that stand beside it. */
export async function* membersCsv(audience: PackedAudience): AsyncGenerator<string> {
  yield csvLine(audience.columns, ',');
  for await (const rows of rowsOf(audience)) yield rows.map(({ cells }) => csvLine(cells, ',')).join('');
}
