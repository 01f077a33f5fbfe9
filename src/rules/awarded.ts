import { batchId, orderId } from '../core/ids.js';
import { accountName, heldOf } from '../ledger/accounts.js';
import { batchKeys } from '../ledger/keys.js';
import { findSpent } from '../ledger/plan-store.js';
import type { RealmLedger } from '../ledger/realm-ledger.js';
import type { AudienceRow } from './audience-row.js';

/** What the ledger knows of a rule's awards in a period. */

/** The business key of an award: one for each rule, period and member. */
export function awardReference(rule: string, period: string, member: string): string {
  return `rule:${rule}:${period}:${member}`;
}

/** The members whose reference of the period is spent, with the order that holds it. */
export async function alreadyAwarded(
  ledger: RealmLedger,
  rule: string,
  period: string,
  slices: AsyncIterable<readonly AudienceRow[]> | Iterable<readonly AudienceRow[]>,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const ids = new Map<string, Promise<string | null>>();
  const { scripts, keyPrefix } = ledger;
  const idOf = (no: string): Promise<string | null> => {
    const known =
      ids.get(no) ??
      scripts.retryWhileAway('read batch', () => scripts.redis.hget(batchKeys(keyPrefix, no).meta, 'id'));
    ids.set(no, known);
    return known;
  };
  for await (const rows of slices) {
    const spent = await findSpent(
      ledger,
      rows.map(({ member }) => awardReference(rule, period, member)),
    );
    for (const { member } of spent.size === 0 ? [] : rows) {
      const holder = spent.get(awardReference(rule, period, member));
      if (holder === undefined) continue;
      const id = await idOf(holder.no);
      found.set(member, id === null ? 'an order of an archived batch' : orderId(batchId(id), holder.index));
    }
  }
  return found;
}

/** What orders of the period hold, whichever way they came: paid, or still to be paid. */
export function awardedInPeriod(ledger: RealmLedger, rule: string, period: string): Promise<bigint> {
  return heldOf(ledger, accountName(rule, period));
}
