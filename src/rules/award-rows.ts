import type { Order } from '../core/order.js';
import { tokens } from '../core/points.js';
import type { OrderRow, Sheet } from '../csv/row.js';
import { hashRow } from '../ledger/reference.js';
import { awardReference } from './awarded.js';
import type { Decision } from './decision.js';
import type { RunEntry, RunMeta } from './run-record.js';

/** The columns under which a rule's orders stand in reports; a failed.csv of them can be run as it is. */
export const AWARD_SHEET: Sheet = {
  delimiter: ',',
  header: ['member', 'recipient', 'op', 'tokens', 'reference', 'reason'],
};

export function runSource({ rule, period }: Pick<RunMeta, 'rule' | 'period'>): string {
  return `rule ${rule} ${period}`;
}

/** The orders of a run, block by block in the audience's order: all of them at once are for no process to hold. */
export async function* awardRows(
  run: RunMeta,
  entries: AsyncIterable<readonly RunEntry[]>,
): AsyncGenerator<OrderRow[], void, undefined> {
  for await (const block of entries)
    yield block.flatMap(({ decision }) => (decision.leftOut === null ? [awardRow(run, decision)] : []));
}

/** A line is that of the audience. */
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
