import { type BatchId, orderId } from '../../core/ids.js';
import type { Order } from '../../core/order.js';
import { stoppedBy } from '../../core/paid-before.js';
import { batchRef, planning, type RealmLedger, type ReferenceHolder, reading } from '../../ledger/index.js';
import { orderWords } from '../../words/amounts.js';
import { counted } from '../../words/spelling.js';
import { lineRanges } from '../findings.js';
import type { ComparedRows } from './compared-rows.js';
import { EarlierWords } from './earlier-words.js';
import { maybeForgotten } from './identity.js';
import { denial } from './judge-earlier.js';
import { findRepeats, type Repeats } from './repeats.js';
import type { TakenOver } from './take-over.js';

/** What of a plan is asked again. */
type Plan = {
  readonly blocks: readonly Buffer[];
  readonly referenceWrites: readonly planning.BlockClaims[];
  readonly takenOver: TakenOver | null;
  readonly recovered: planning.RecoveredBatch | null;
  readonly mayPrecede: (moment: number) => boolean;
  readonly again: string | null;
  readonly newRowsOnly: boolean;
  readonly compares: boolean;
  readonly bare: ComparedRows;
  readonly repeats: Repeats;
};

/**
 * A plan was judged when it was shown, and may be started an hour later. What it said of rows that others may pay
 * meanwhile is asked again before the seal: where the answer is another one, nothing is sealed.
 */
export async function refuseChanged(plan: Plan, ledger: RealmLedger, no: string, now: number): Promise<void> {
  const recovered = (await planning.recovered.count(ledger, no)) - (plan.takenOver?.indexes.size ?? 0);
  if (recovered !== 0)
    throw stoppedBy({
      code: 'ALM_PLAN_CHANGED',
      message: `Journals have put ${counted(recovered, 'order')} of this batch back since it was planned.`,
    });
  await refuseReplaced(plan, ledger, no);
  const freed = (await rowsWhere(plan, ledger, 'held', false)).map(({ line }) => line);
  refuse([[freed, 'no longer duplicates: what held their references was cancelled or refused']]);
  const { recovered: batch } = plan;
  const forgotten = plan.again === null ? await maybeForgotten(ledger, batch, plan.mayPrecede, now) : null;
  if (forgotten !== null) throw stoppedBy(forgotten);
  if (!plan.compares) return;
  const repeats = await findRepeats(ledger, plan.bare, now);
  const missing = plan.newRowsOnly ? linesOnlyIn(plan.repeats, repeats) : [];
  const among = repeats.batches.map(({ batch }) => batch).join(', ');
  refuse([
    [linesOnlyIn(repeats, plan.repeats), `by now among the orders of other batches (${among})`],
    [missing, 'to be left out no longer: the equal orders were cancelled or refused'],
  ]);
}

/** A journal has put an order back that pays the same debt as a row of the file. */
async function refuseReplaced(plan: Plan, ledger: RealmLedger, no: string): Promise<void> {
  const replaced = plan.referenceWrites.flatMap(({ replaces }) => replaces);
  for (const { no: oldNo, index, why } of await planning.earlier.judgeReplaced(ledger, replaced)) {
    if (typeof why !== 'object' || !('replacedBy' in why) || why.replacedBy === no) continue;
    const order = orderId((await batchRef(ledger, oldNo)).id, index);
    throw stoppedBy(await denial(ledger, 'replaces', order, why));
  }
}

/** Recovered orders are found by the id that the orders make: a batch with a name of its own would pay them again. */
export function refuseOtherName({ recovered }: Plan, id: BatchId): void {
  if (recovered === null || recovered.id === id) return;
  throw stoppedBy({
    code: 'ALM_BATCH_ID_OTHER',
    message: `Journals know payments of these orders as batch ${recovered.id}: as batch ${id} they would be paid again.`,
  });
}

/** A block met references that somebody has taken since: names them all, not just those of the block. */
export async function refuseSpent(plan: Plan, ledger: RealmLedger): Promise<void> {
  const spent = await rowsWhere(plan, ledger, 'refs', true);
  const lines = spent.map(({ line }) => line);
  const what = 'under references that another batch has spent since';
  refuse([[lines, what]], await spentWords(ledger, spent[0]));
}

/** By whom the first one is, and what both orders are. */
async function spentWords(ledger: RealmLedger, row: ClaimedRow | undefined): Promise<string> {
  if (row?.holder === undefined || row.order === null) return '';
  const earlier = new EarlierWords(ledger, new reading.PlanReader(ledger));
  const beside = (await earlier.beside(row.holder, row.order)) || ` Both: ${orderWords(row.order)}.`;
  return ` That of line ${row.line} is spent by order ${await earlier.idOf(row.holder)}.${beside}`;
}

function refuse(changes: readonly (readonly [lines: readonly number[], what: string])[], more = ''): void {
  const told = changes.flatMap(([lines, what]) =>
    lines.length === 0
      ? []
      : [`${lines.length} ${lines.length === 1 ? 'row is' : 'rows are'} ${what}: ${lineRanges(lines)}`],
  );
  if (told.length === 0) return;
  throw stoppedBy({
    code: 'ALM_PLAN_CHANGED',
    message: `What the file would do is not what was shown: ${told.join('; ')}.${more}`,
  });
}

type ClaimedRow = {
  readonly line: number;
  readonly order: Order | null;
  readonly holder: ReferenceHolder | undefined;
};

/** The rows of claimed references that are spent by now, or are not. */
async function rowsWhere(
  plan: Plan,
  ledger: RealmLedger,
  which: 'refs' | 'held',
  isSpent: boolean,
): Promise<ClaimedRow[]> {
  const found: ClaimedRow[] = [];
  for (const [block, claims] of plan.referenceWrites.entries()) {
    const places = await planning.references.spentPlaces(ledger, claims[which]);
    const moved = places.filter(([, holder]) => (holder !== undefined) === isSpent);
    const bytes = plan.blocks[block];
    if (moved.length === 0 || bytes === undefined) continue;
    const rows = planning.blocks.decode(bytes);
    for (const [place, holder] of moved) {
      const { line = 0, order = null } = rows[place] ?? {};
      found.push({ line, order, holder });
    }
  }
  return found;
}

function linesOnlyIn(these: Repeats, others: Repeats): number[] {
  const known = new Set(others.batches.flatMap(({ rows }) => rows.map(([index]) => index)));
  return these.batches.flatMap(({ rows }) =>
    rows.flatMap(([index, line]) => (known.has(index) ? [] : [line])),
  );
}
