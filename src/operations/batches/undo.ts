import { AlmonerError } from '../../core/errors/error.js';
import { type OrderId, UNDO, undoReference } from '../../core/ids.js';
import { absoluteOf, NO_SUMS, type OpSums, plus, sumOf } from '../../core/op-sums.js';
import { inverseOf, type Order } from '../../core/order.js';
import { tokens as amountOf } from '../../core/points.js';
import type { OrderState } from '../../core/states.js';
import {
  type BatchRef,
  type BatchView,
  type Manifest,
  planning,
  type ReferenceHolder,
  type RowView,
  reading,
} from '../../ledger/index.js';
import { csvLine } from '../../report/csv-files.js';
import type { PacedReads } from '../../runtime/paced-reads.js';
import { counted } from '../../words/spelling.js';
import type { Profiles } from './batch-realm.js';
import { batchStatus } from './batch-status.js';
import { type TakenBack, takenBack, UndoBalances } from './undo-left.js';

/**
 * The CSV that takes back what a batch paid. Nothing is compensated by itself: running the file is a new
 * batch that a person starts. Each row's reference names the order it undoes, so that no order is undone
 * twice, and a paid undo frees the reference of the order it undid. An undo is not undone itself.
 */
export type Undo = Awaited<ReturnType<typeof writeUndo>>;

type Undoing = 'undone' | 'undoing' | 'undo-in-doubt' | 'undo-may-arrive';
type WhyLeftOut = Exclude<OrderState, 'paid'> | 'is-undo' | 'spent' | Undoing;

const WORDS: Readonly<Record<WhyLeftOut, string>> = {
  doubt: 'in doubt, paid or not: to be resolved first',
  undone: 'undone already',
  undoing: 'about to be undone: an undo of them waits or is being sent',
  'undo-in-doubt': 'with an undo that is in doubt: resolve that one first',
  'undo-may-arrive':
    'with an undo that was resolved as unpaid and may still arrive; ask again after its settle time',
  'is-undo':
    'undos themselves, which are not undone; to give the points again, make a new order with a reference of its own',
  spent: 'of members who hold nothing of it any more, or too little',
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

/** What of a batch is taken back, and what is done about members who hold too little. */
export type UndoWish = {
  /** Members or lines, as `--only` names them; empty: all orders. */
  readonly only: readonly string[];
  /** Reads what members hold of a currency; null: nobody looks. */
  readonly readIn: ((currency: string | null) => PacedReads['member']) | null;
  /** Of members who hold too little: the whole amount as ever, what is left, or nothing. */
  readonly short: 'whole' | 'left' | 'skip';
};
export const WHOLE_UNDO: UndoWish = { only: [], readIn: null, short: 'whole' };

type Write = (text: string) => Promise<void> | undefined;

export async function writeUndo(ref: BatchRef, config: Profiles, write: Write, wish: UndoWish = WHOLE_UNDO) {
  await refuseWhileMoving(ref, config);
  const plans = new reading.PlanReader(ref.ledger);
  const { batch, rows } = await reading.snapshots.batch(ref, plans, []);
  const only = new OnlySome(ref.id, wish.only);
  const file = new UndoFile({ ref, plans, manifest: batch.manifest, wish, write });
  await file.begin();
  for await (const row of rows) if (only.has(row)) await file.add(row);
  await file.flush();
  only.refuseUnmet();
  refuseUndoOfUndo(ref, batch, file.undos);
  return file.written();
}

type UndoParts = {
  readonly ref: BatchRef;
  readonly plans: reading.PlanReader;
  readonly manifest: Manifest;
  readonly wish: UndoWish;
  readonly write: Write;
};

class UndoFile {
  private readonly leftOut = new Map<WhyLeftOut, { orders: number; amounts: OpSums; named: string[] }>();
  private readonly alreadyUndone: string[] = [];
  private readonly doubts: string[] = [];
  /** Taken back too, but their payment rests on an operator's word. */
  private readonly paidOnWord: string[] = [];
  /** Of which a part was taken back before. */
  private readonly rest: { readonly order: string; readonly taken: string; readonly left: string }[] = [];
  private readonly balances: UndoBalances | null;
  private count = 0;
  private amounts = NO_SUMS;
  private pending: RowView[] = [];

  constructor(private readonly parts: UndoParts) {
    const { wish, manifest } = parts;
    this.balances = wish.readIn === null ? null : new UndoBalances(wish.readIn(manifest.currency));
  }

  get undos(): number {
    return this.leftOut.get('is-undo')?.orders ?? 0;
  }

  async begin(): Promise<void> {
    await this.line([...COLUMNS], 'currency');
  }

  async add(row: RowView): Promise<void> {
    if (row.state === 'doubt') this.doubts.push(row.order);
    if (row.state !== 'paid') this.leave(row, row.state);
    else if (row.reference?.startsWith(UNDO) === true) this.leave(row, 'is-undo');
    else this.pending.push(row);
    if (this.pending.length === ASK_AT_ONCE) await this.flush();
  }

  async flush(): Promise<void> {
    const { ledger } = this.parts.ref;
    const spent = await planning.references.spent(
      ledger,
      this.pending.map(({ order }) => undoReference(order)),
    );
    for (const row of this.pending) {
      const { order } = await this.parts.plans.row(this.parts.ref.no, row.index);
      if (order === null) throw new Error(`order ${row.order} is paid and has no content`);
      const isBegun = spent.has(undoReference(row.order));
      const before = isBegun ? await takenBack(ledger, this.parts.plans, row.order, order.tokens) : null;
      if (before?.holder != null) {
        this.alreadyUndone.push(row.order);
        this.leave(row, await undoing(this.parts.ref, before.holder));
      } else await this.take(row, inverseOf(order), before);
    }
    this.pending = [];
  }

  private async take(row: RowView, inverse: Order, before: TakenBack | null): Promise<void> {
    const rest = amountOf(inverse.tokens - (before?.taken ?? 0));
    const left = (await this.balances?.left({ ...inverse, tokens: rest })) ?? rest;
    const { short } = this.parts.wish;
    const tokens = short === 'whole' || left >= rest ? rest : short === 'skip' ? 0 : left;
    if (before !== null)
      this.rest.push({ order: row.order, taken: String(before.taken), left: String(rest) });
    if (tokens === 0) return this.leave(row, 'spent');
    const taken = { ...inverse, tokens: amountOf(tokens) };
    await this.line(undoCells(row, taken, before?.under ?? row.order), this.parts.manifest.currency ?? '');
    if (row.evidence === 'operator') this.paidOnWord.push(row.order);
    this.count += 1;
    this.amounts = plus(this.amounts, sumOf(taken.op, taken.tokens));
  }

  private leave(row: RowView, why: WhyLeftOut): void {
    const sum = this.leftOut.get(why) ?? { orders: 0, amounts: NO_SUMS, named: [] };
    sum.orders += 1;
    if (row.op !== null) sum.amounts = plus(sum.amounts, sumOf(row.op, row.tokens ?? 0));
    if (sum.named.length < NAMED_MAX) sum.named.push(row.order);
    this.leftOut.set(why, sum);
  }

  /** With the currency behind the cells: a check, so that what was paid in one is not taken back in another. */
  private async line(cells: readonly (string | number)[], currency: string): Promise<void> {
    const { delimiter } = this.parts.manifest;
    await this.parts.write(
      csvLine([...cells, ...(this.parts.manifest.currency === null ? [] : [currency])], delimiter),
    );
  }

  async written() {
    const short = (await this.balances?.short()) ?? [];
    return {
      rows: this.count,
      currency: this.parts.manifest.currency,
      tokens: absoluteOf(this.amounts),
      /** What the file would do. */
      amounts: this.amounts,
      alreadyUndone: this.alreadyUndone,
      doubts: this.doubts,
      paidOnWord: this.paidOnWord,
      rest: this.rest,
      /** Members who hold less than the orders would take from them; empty where nobody looked. */
      short: short.map(({ member, wanted, balance }) => ({
        member,
        wanted: String(wanted),
        balance: balance === null ? null : String(balance),
      })),
      /** Every order that is not in the file, by why. */
      leftOut: [...this.leftOut].map(([why, sum]) => ({
        why,
        message: WORDS[why],
        tokens: absoluteOf(sum.amounts),
        ...sum,
      })),
    };
  }
}

/** `--only`: members, or lines of the file that was paid. A number that is both is asked about. */
class OnlySome {
  private readonly members = new Set<string>();
  private readonly lines = new Set<string>();

  constructor(
    private readonly batch: string,
    private readonly wanted: readonly string[],
  ) {
    for (const one of wanted)
      if (!/^(?:(?:member|line):)?[0-9]+$/.test(one))
        throw this.refusal(`--only ${JSON.stringify(one)} is neither a member nor a line.`);
  }

  has({ member, recipient, line }: RowView): boolean {
    if (this.wanted.length === 0) return true;
    let isWanted = false;
    for (const one of this.wanted) {
      const [kind, value] = one.includes(':') ? one.split(':') : ['', one];
      const byMember = kind !== 'line' && (value === member || value === recipient);
      const byLine = kind !== 'member' && value === String(line);
      if (byMember) this.members.add(one);
      if (byLine) this.lines.add(one);
      isWanted ||= byMember || byLine;
    }
    return isWanted;
  }

  refuseUnmet(): void {
    for (const one of this.wanted) {
      const [isMember, isLine] = [this.members.has(one), this.lines.has(one)];
      if (isMember && isLine)
        throw this.refusal(`--only ${one} is a member and a line: say member:${one} or line:${one}.`);
      if (!isMember && !isLine) throw this.refusal(`No order has the member or the line of --only ${one}.`);
    }
  }

  private refusal(why: string): AlmonerError {
    return new AlmonerError('ALM_BATCH_CANNOT', `Batch ${this.batch}: ${why} No undo file was written.`, {
      next: `Look at results.csv of \`almoner report ${this.batch}\` for its members and lines.`,
    });
  }
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
  const state = reading.orders.stateOf(await reading.orders.record({ ledger, no }, index));
  if (state === 'paid') return 'undone';
  return state === 'doubt' ? 'undo-in-doubt' : 'undoing';
}

function undoCells(
  row: RowView,
  { op, member, recipient, tokens }: Order,
  under: OrderId,
): (string | number)[] {
  const why = row.reason === null ? '' : `: ${row.reason}`;
  return [member, recipient ?? '', op, tokens, undoReference(under), `undo of ${row.order}${why}`];
}
