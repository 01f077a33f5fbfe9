import { z } from 'zod';
import { ACCOUNT_MOST } from '../core/points.js';
import { accountOf } from '../core/reference.js';
import type { PlanRow } from './plan-block.js';
import { askRealm, type RealmLedger } from './realm-ledger.js';

/** The accounts of rules, one for each rule and period: see includes/account.lua. */

/** Rows of a block that pass one account, and what they hold of it. Rows between them that are no orders do not matter. */
export type AccountRange = readonly [account: string, first: number, last: number, tokens: string];

export function accountRanges(firstIndex: number, rows: readonly PlanRow[]): AccountRange[] {
  const ranges: { account: string; first: number; last: number; tokens: bigint }[] = [];
  let open: (typeof ranges)[number] | undefined;
  rows.forEach((row, offset) => {
    if (row.order === null || row.duplicateOf !== null) return;
    const account = accountOf(row);
    const index = firstIndex + offset;
    if (account === null) open = undefined;
    else if (open?.account === account) {
      open.last = index;
      open.tokens += BigInt(row.order.tokens);
    } else {
      open = { account, first: index, last: index, tokens: BigInt(row.order.tokens) };
      ranges.push(open);
    }
  });
  return ranges.map(({ account, first, last, tokens }) => [account, first, last, String(tokens)]);
}

/** What orders of the period hold: paid, or still to be paid. */
export async function heldOf(ledger: RealmLedger, account: string): Promise<bigint> {
  return BigInt(
    (await askRealm(ledger, 'read account', (redis, T) => redis.hget(`${T}:held`, account))) ?? 0,
  );
}

export type OverLimit = {
  readonly account: string;
  readonly limit: string;
  readonly held: string;
  readonly tokens: string;
};

/** As the scripts say it. */
export function parseOverLimit(values: unknown): OverLimit {
  const [account, limit, held, tokens] = z
    .tuple([z.string(), z.string(), z.string(), z.string()])
    .parse(values);
  return { account, limit, held, tokens };
}

/** The accounts that these rows would take beyond their limits. */
export async function overLimits(ledger: RealmLedger, ranges: readonly AccountRange[]): Promise<OverLimit[]> {
  const sums = new Map<string, bigint>();
  for (const [account, , , tokens] of ranges) sums.set(account, (sums.get(account) ?? 0n) + BigInt(tokens));
  const over: OverLimit[] = [];
  for (const [account, tokens] of sums) {
    const limit =
      (await askRealm(ledger, 'read limit', (redis, T) => redis.hget(`${T}:limits`, account))) ??
      String(ACCOUNT_MOST);
    const held = await heldOf(ledger, account);
    if (held + tokens > BigInt(limit))
      over.push({ account, limit, held: String(held), tokens: String(tokens) });
  }
  return over;
}

export function overLimitText({ account, limit, held, tokens }: OverLimit): string {
  const [rule, period] = account.split(':');
  return `the rule ${rule} has a limit of ${limit} for ${period}, of which ${held} is paid or reserved: ${tokens} more would pass it`;
}
