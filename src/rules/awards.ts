import { type BatchId, orderId } from '../core/ids.js';
import type { Order } from '../core/order.js';
import { tokens } from '../core/points.js';
import type { RealmProfile } from '../core/profile.js';
import { accountName, awardReference, hashRow } from '../core/reference.js';
import type { OrderRow, Sheet } from '../csv/row.js';
import { idOfBatch, planning, type RealmLedger } from '../ledger/index.js';
import type { Decision } from './decision.js';
import type { Bounds } from './limits.js';
import type { AudienceRow } from './packed-audience.js';
import type { RunEntry, RunMeta } from './run-record.js';

/** The facts that the ledger has about a rule's awards in a period. */

/** The members whose reference of the period is spent, with the order that holds it. */
export async function alreadyAwarded(
  ledger: RealmLedger,
  rule: string,
  period: string,
  slices: AsyncIterable<readonly AudienceRow[]> | Iterable<readonly AudienceRow[]>,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const ids = new Map<string, Promise<BatchId | null>>();
  const idOf = (no: string): Promise<BatchId | null> => {
    const known = ids.get(no) ?? idOfBatch(ledger, no);
    ids.set(no, known);
    return known;
  };
  for await (const rows of slices) {
    const spent = await planning.references.spent(
      ledger,
      rows.map(({ member }) => awardReference(rule, period, member)),
    );
    for (const { member } of spent.size === 0 ? [] : rows) {
      const holder = spent.get(awardReference(rule, period, member));
      if (holder === undefined) continue;
      const id = await idOf(holder.no);
      found.set(member, id === null ? 'an order of an archived batch' : orderId(id, holder.index));
    }
  }
  return found;
}

/** Reads what limits further awards of the period: earlier awards, and the realm's caps. */
export async function awardsOf(
  ledger: RealmLedger,
  { caps }: Pick<RealmProfile, 'caps'>,
  { rule, period }: { readonly rule: string; readonly period: string },
  slices: Parameters<typeof alreadyAwarded>[3],
) {
  return {
    already: await alreadyAwarded(ledger, rule, period, slices),
    // The orders of the period count whatever their run, paid or still to be paid.
    bounds: async (): Promise<Bounds> => ({
      awardedInPeriod: await planning.accounts.heldOf(ledger, accountName(rule, period)),
      maxTokensPerOrder: caps.maxTokensPerOrder,
    }),
  };
}

/** The columns of a rule's orders in reports. A failed.csv with them can be run as it is. */
export const AWARD_SHEET: Sheet = {
  delimiter: ',',
  header: ['member', 'recipient', 'op', 'tokens', 'reference', 'reason'],
};

/** Names the source of a rule's batch: the rule and the period. */
export function runSource({ rule, period }: Pick<RunMeta, 'rule' | 'period'>): string {
  return `rule ${rule} ${period}`;
}

/**
 * Yields the orders of a run block by block, in the audience's order. All of them at once could exceed the memory of
 * a process.
 */
export async function* awardRows(
  run: RunMeta,
  entries: AsyncIterable<readonly RunEntry[]>,
): AsyncGenerator<OrderRow[], void, undefined> {
  for await (const block of entries)
    yield block.flatMap(({ decision }) => (decision.leftOut === null ? [awardRow(run, decision)] : []));
}

/** The line number is that of the audience. */
function awardRow(run: RunMeta, { member, line, tokens: amount }: Decision): OrderRow {
  const order = orderOf(run, member, amount);
  const reference = awardReference(run.rule, run.period, member);
  const cells = [order.member, order.recipient ?? '', order.op, String(order.tokens), reference, run.reason];
  const hashes = hashRow({ order, reference });
  return { kind: 'order', line, order, reference, reason: run.reason, replaces: null, hashes, cells };
}

function orderOf(run: RunMeta, member: Decision['member'], amount: number): Order {
  if (run.op !== 'transfer') return { op: run.op, member, recipient: null, tokens: tokens(amount) };
  if (run.from === null) throw new Error('a transfer without a giver');
  return { op: 'transfer', member: run.from, recipient: member, tokens: tokens(amount) };
}
