import { AlmonerError } from '../../core/errors/error.js';
import { UNDO, undoReference } from '../../core/ids.js';
import { absoluteOf, NO_SUMS, type OpSums, plus, sumOf } from '../../core/op-sums.js';
import { inverseOf, type Order } from '../../core/order.js';
import type { OrderState } from '../../core/states.js';
import {
  type BatchRef,
  type BatchView,
  findSpent,
  PlanReader,
  type ReferenceHolder,
  type RowView,
  readRecord,
  snapshotBatch,
  stateOf,
} from '../../ledger/index.js';
import { csvLine } from '../../report/csv-files.js';
import { counted } from '../../words/spelling.js';
import type { Profiles } from './batch-realm.js';
import { batchStatus } from './batch-status.js';

/**
 * The CSV that takes back what a batch paid. Nothing is compensated by itself: running the file is a new
 * batch that a person starts. Each row's reference names the order it undoes, so that no order is undone
 * twice, and a paid undo frees the reference of the order it undid. An undo is not undone itself.
 */
export type Undo = Awaited<ReturnType<typeof writeUndo>>;

type Undoing = 'undone' | 'undoing' | 'undo-in-doubt' | 'undo-may-arrive';
type WhyLeftOut = Exclude<OrderState, 'paid'> | 'is-undo' | Undoing;

const WORDS: Readonly<Record<WhyLeftOut, string>> = {
  doubt: 'in doubt, paid or not: to be resolved first',
  undone: 'undone already',
  undoing: 'about to be undone: an undo of them waits or is being sent',
  'undo-in-doubt': 'with an undo that is in doubt: resolve that one first',
  'undo-may-arrive':
    'with an undo that was resolved as unpaid and may still arrive; ask again after its settle time',
  'is-undo':
    'undos themselves, which are not undone; to give the points again, make a new order with a reference of its own',
  planned: 'not sent yet: going on with the batch would still pay them; cancel it if they are not meant',
  sending: 'being sent',
  unknown: 'being resolved',
  refused: 'refused: never paid',
  exhausted: 'exhausted: never paid',
  cancelled: 'cancelled: never paid',
  duplicate: 'duplicates: another order holds their reference',
  invalid: 'invalid rows: never an order',
};

const COLUMNS = ['member', 'recipient', 'op', 'tokens', 'reference', 'reason'] as const;
const ASK_AT_ONCE = 256;
const NAMED_MAX = 10;

export async function writeUndo(
  ref: BatchRef,
  config: Profiles,
  write: (text: string) => Promise<void> | undefined,
) {
  await refuseWhileMoving(ref, config);
  const plans = new PlanReader(ref.ledger);
  const { batch, rows } = await snapshotBatch(ref, plans, []);
  const { delimiter, currency } = batch.manifest;
  // A check, so that what was paid in one currency is not taken back in another.
  const inCurrency = (name: string) => (currency === null ? [] : [name]);
  const leftOut = new Map<WhyLeftOut, { orders: number; amounts: OpSums; named: string[] }>();
  const leave = (row: RowView, why: WhyLeftOut) => {
    const sum = leftOut.get(why) ?? { orders: 0, amounts: NO_SUMS, named: [] };
    sum.orders += 1;
    if (row.op !== null) sum.amounts = plus(sum.amounts, sumOf(row.op, row.tokens ?? 0));
    if (sum.named.length < NAMED_MAX) sum.named.push(row.order);
    leftOut.set(why, sum);
  };
  const alreadyUndone: string[] = [];
  const doubts: string[] = [];
  /** Taken back too, but their payment rests on an operator's word. */
  const paidOnWord: string[] = [];
  let count = 0;
  let amounts = NO_SUMS;
  let pending: RowView[] = [];
  const flush = async () => {
    const spent = await findSpent(
      ref.ledger,
      pending.map(({ order }) => undoReference(order)),
    );
    for (const row of pending) {
      const holder = spent.get(undoReference(row.order));
      if (holder !== undefined) {
        alreadyUndone.push(row.order);
        leave(row, await undoing(ref, holder));
        continue;
      }
      const { order } = await plans.row(ref.no, row.index);
      if (order === null) throw new Error(`order ${row.order} is paid and has no content`);
      const inverse = inverseOf(order);
      await write(csvLine([...undoCells(row, inverse), ...inCurrency(currency ?? '')], delimiter));
      if (row.evidence === 'operator') paidOnWord.push(row.order);
      count += 1;
      amounts = plus(amounts, sumOf(inverse.op, inverse.tokens));
    }
    pending = [];
  };
  await write(csvLine([...COLUMNS, ...inCurrency('currency')], delimiter));
  for await (const row of rows) {
    if (row.state === 'doubt') doubts.push(row.order);
    if (row.state !== 'paid') leave(row, row.state);
    else if (row.reference?.startsWith(UNDO) === true) leave(row, 'is-undo');
    else pending.push(row);
    if (pending.length === ASK_AT_ONCE) await flush();
  }
  await flush();
  refuseUndoOfUndo(ref, batch, leftOut.get('is-undo')?.orders ?? 0);
  return {
    rows: count,
    tokens: absoluteOf(amounts),
    /** What the file would do. */
    amounts,
    alreadyUndone,
    doubts,
    paidOnWord,
    /** Every order that is not in the file, by why. */
    leftOut: [...leftOut].map(([why, sum]) => ({
      why,
      message: WORDS[why],
      tokens: absoluteOf(sum.amounts),
      ...sum,
    })),
  };
}

/** What is not settled yet would be missing from the file, and be paid after all. */
async function refuseWhileMoving(ref: BatchRef, config: Profiles): Promise<void> {
  const { state, counts, waiting } = await batchStatus(ref, config);
  const { sending = 0, unknown = 0 } = counts;
  if (state !== 'running' && state !== 'planned' && sending + unknown === 0) return;
  const moving =
    sending + unknown === 0
      ? ''
      : `; ${counted(sending, 'order is', 'orders are')} being sent and ${unknown} resolved`;
  const still = waiting.find(({ why, next }) => why !== 'doubt' && next !== null);
  throw new AlmonerError(
    'ALM_BATCH_CANNOT',
    `Batch ${ref.id} is ${state}${moving}: what it paid is not certain yet. No undo file was written.`,
    {
      next: `${still === undefined ? 'Wait until it is done' : `${still.message} Get it on: ${still.next}`}, or stop it with \`almoner pause ${ref.id}\` or \`almoner cancel ${ref.id}\`.`,
    },
  );
}

function refuseUndoOfUndo(ref: BatchRef, { counts }: BatchView, undos: number): void {
  if (undos === 0 || undos < (counts.paid ?? 0)) return;
  throw new AlmonerError(
    'ALM_BATCH_CANNOT',
    `Batch ${ref.id} is itself an undo: what it paid took other orders back and freed their references. An undo is not undone. No undo file was written.`,
    { next: 'To give the points again, run a new file with references of its own.' },
  );
}

/** How far the undo is that keeps the reference. */
async function undoing({ ledger }: BatchRef, { no, index, arrivesUntil }: ReferenceHolder): Promise<Undoing> {
  if (arrivesUntil !== null) return 'undo-may-arrive';
  const state = stateOf(await readRecord({ ledger, no }, index));
  if (state === 'paid') return 'undone';
  return state === 'doubt' ? 'undo-in-doubt' : 'undoing';
}

function undoCells(row: RowView, { op, member, recipient, tokens }: Order): (string | number)[] {
  const why = row.reason === null ? '' : `: ${row.reason}`;
  return [member, recipient ?? '', op, tokens, undoReference(row.order), `undo of ${row.order}${why}`];
}
