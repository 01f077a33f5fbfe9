import { FIND_BY, type FindBy, type Meanings, meaningsOf } from '../../core/find-meanings.js';
import {
  type BatchRef,
  batchRef,
  lists,
  type OrderRecord,
  type PlanRow,
  planning,
  type RowView,
  readBatch,
  reading,
  type ScriptClient,
} from '../../ledger/index.js';
import { isoTime } from '../../words/spelling.js';
import { contextOf } from '../orders/find-orders.js';
import {
  type BatchesBounds,
  rowsOfAll,
  type ScanPlace,
  type SealedBatch,
  scanBatches,
  sealedBatches,
  type Wanted,
} from '../orders/scan-rows.js';
import type { FoundBatch } from '../views/batch.js';
import type { FoundOrder } from '../views/order.js';
import { orderRow } from './order-row.js';

/**
 * The one search of all faces, over all batches of the books, archives included, newest first. An order's id and a
 * reference that is spent are found at once; batches and other orders are looked for piece by piece.
 */
export class Find {
  private constructor(
    private readonly scripts: ScriptClient,
    readonly meanings: Meanings,
    private readonly realm: string | undefined,
  ) {}

  static open(
    scripts: ScriptClient,
    text: string,
    wish: { readonly by?: FindBy | undefined; readonly realm?: string | undefined },
  ): Find {
    return new Find(scripts, meaningsOf(text, wish.by ?? null, Date.now()), wish.realm);
  }

  /** The next batches that match as a whole. */
  async batches({ from, limit, untilMs }: BatchesLook): Promise<FoundBatches> {
    const found: FoundBatch[] = [];
    const { batch, file, day } = this.meanings;
    if (batch === null && file === null && day === null) return { found, next: null };
    let looked = 0;
    for await (const one of sealedBatches(this.scripts, { realm: this.realm, from: from ?? undefined })) {
      const isOver = looked > 0 && (found.length >= limit || performance.now() >= untilMs);
      if (isOver) return { found, next: lists.placeOf(one.ref) };
      looked += 1;
      const by = batchMatches(one, this.meanings);
      if (by.length > 0) found.push(batchHit(one, by));
    }
    return { found, next: null };
  }

  /** The next orders that match. Those found at once come first, and are not told again by the scan. */
  async orders(bounds: OrdersLook): Promise<FoundOrders> {
    const unsearched: FoundOrders['unsearched'][number][] = [];
    const onUnread = ({ id }: BatchRef, error: Error) =>
      unsearched.push({ batch: id, message: error.message });
    const named = await this.named();
    const first: Hit[] = [];
    for (const { ref, index } of bounds.from === null ? named : [])
      try {
        const row = await reading.orders.row(await contextOf(ref), index);
        first.push({ ref, row, by: rowMatches(ref, row, this.meanings) });
      } catch (error) {
        if (!reading.isArchiveAway(error)) throw error;
        onUnread(ref, error);
      }
    const isTold = (ref: BatchRef, index: number) =>
      named.some(
        (one) => one.ref.no === ref.no && one.index === index && one.ref.ledger.id === ref.ledger.id,
      );
    const wanted = (batch: SealedBatch) => wantedOf(batch, this.meanings);
    const limit = Math.max(1, bounds.limit - first.length);
    const of = await rowsOfAll(this.scripts, this.realm);
    const sealed = sealedBatches(this.scripts, { realm: this.realm, from: bounds.from?.place });
    const onScanned = (rows: number) => bounds.onScanned?.(rows, of);
    const scan = await scanBatches(sealed, wanted, { ...bounds, limit, onScanned, onUnread });
    const scanned = scan.found
      .filter(({ ref, row }) => !isTold(ref, row.index))
      .map(({ ref, row }) => ({ ref, row, by: rowMatches(ref, row, this.meanings) }));
    const batches = new Map(unsearched.map((one) => [one.batch, one]));
    return { ...scan, of, found: [...first, ...scanned], unsearched: [...batches.values()] };
  }

  /** Orders that the books name without a scan. */
  private async named(): Promise<{ ref: BatchRef; index: number }[]> {
    const { order, reference } = this.meanings;
    const found = new Map<string, { ref: BatchRef; index: number }>();
    const add = (ref: BatchRef, index: number) =>
      found.set(`${ref.ledger.id} ${ref.no} ${index}`, { ref, index });
    for (const ledger of await lists.ledgersNamed(this.scripts, this.realm)) {
      if (order !== null)
        for (const ref of (await lists.batchesLike(ledger, order.batch, NAMED_MAX)).refs) {
          const view = await readBatch(ref);
          if (view !== undefined && order.index <= view.lastIndex) add(ref, order.index);
        }
      if (reference === null) continue;
      const holder = (await planning.references.spent(ledger, [reference])).get(reference);
      if (holder === undefined) continue;
      const ref = await batchRef(ledger, holder.no);
      if ((await readBatch(ref)) !== undefined) add(ref, holder.index);
    }
    return [...found.values()];
  }
}

/** Batches of which an order is named by the beginning of their ids. */
const NAMED_MAX = 100;

type OrdersLook = Omit<BatchesBounds, 'onUnread' | 'onScanned'> & {
  readonly onScanned?: (rows: number, of: number) => void;
};
type BatchesLook = { readonly from: string | null; readonly limit: number; readonly untilMs: number };

/** `next`: the place from which the search goes on; null once all batches were looked at. */
export type FoundBatches = { readonly found: readonly FoundBatch[]; readonly next: string | null };

type Hit = { readonly ref: BatchRef; readonly row: RowView; readonly by: readonly FindBy[] };

export type FoundOrders = {
  readonly found: readonly Hit[];
  readonly next: ScanPlace | null;
  readonly scanned: number;
  readonly of: number;
  /** Batches whose rows could not be read: what they hold is not among the hits. */
  readonly unsearched: readonly { readonly batch: string; readonly message: string }[];
};

function batchHit({ ref, view }: SealedBatch, by: readonly FindBy[]): FoundBatch {
  const { realm, rehearsal, source, rows, createdAt } = view.manifest;
  const { state, counts, archived } = view;
  return {
    kind: 'batch',
    batch: ref.id,
    ...{ by, realm, rehearsal, source, state, counts, rows, archived },
    createdAt: isoTime(createdAt),
  };
}

/** An order that was found, as every face shows it. */
export function foundOrder({ ref, row, by }: Hit): FoundOrder {
  return { kind: 'order', ...orderRow(ref, row), by };
}

function batchMatches({ ref, view }: SealedBatch, { batch, file, day }: Meanings): FindBy[] {
  const { source, createdAt } = view.manifest;
  const times = [createdAt, view.startedAt, view.finishedAt];
  const is: Partial<Record<FindBy, boolean>> = {
    batch: batch !== null && ref.id.startsWith(batch),
    file: file !== null && source.toLowerCase().includes(file),
    day: times.some((at) => isOn(day, at)),
  };
  return FIND_BY.filter((by) => is[by] === true);
}

function isOn(day: Meanings['day'], at: number | null): boolean {
  return day !== null && at !== null && at >= day.fromMs && at < day.toMs;
}

type Amount = { readonly op: string | null; readonly tokens: number | null };

function isAmount({ amount }: Meanings, { op, tokens }: Amount): boolean {
  return amount !== null && amount.tokens === tokens && (amount.op ?? op) === op;
}

/** As the scan judges a row's plan and record, said of the row it makes of them. */
function rowMatches({ id }: BatchRef, row: RowView, meanings: Meanings): FindBy[] {
  const { order, reference, member, day } = meanings;
  const is: Partial<Record<FindBy, boolean>> = {
    order: order !== null && order.index === row.index && id.startsWith(order.batch),
    reference: reference !== null && row.reference === reference,
    member: member !== null && (row.member === member || row.recipient === member),
    amount: isAmount(meanings, row),
    day: isOn(day, row.sentAt) || isOn(day, row.settledAt),
  };
  return FIND_BY.filter((by) => is[by] === true);
}

/** Null where no row of the batch can match. */
function wantedOf({ view }: SealedBatch, meanings: Meanings): Wanted | null {
  const { reference, member, amount, day } = meanings;
  // Nothing is sent before its batch is made, nor after it has finished.
  const sentThen =
    day !== null &&
    view.manifest.createdAt < day.toMs &&
    (view.finishedAt ?? Number.POSITIVE_INFINITY) >= day.fromMs;
  const inPlan =
    reference === null && member === null && amount === null
      ? null
      : {
          mayHold: (plan: reading.PlanText) =>
            (reference !== null && plan.mayMention(reference)) ||
            (member !== null && plan.mayMention(member)) ||
            (amount !== null && plan.mayAmountTo(amount.tokens)),
          has: ({ order, reference: of }: PlanRow) =>
            (reference !== null && of === reference) ||
            (order !== null &&
              ((member !== null && (order.member === member || order.recipient === member)) ||
                isAmount(meanings, order))),
        };
  const inRecord = sentThen
    ? ({ sentAt, tookMs }: OrderRecord) =>
        isOn(day, sentAt) || isOn(day, sentAt === null || tookMs === null ? null : sentAt + tookMs)
    : null;
  if (inPlan === null && inRecord === null) return null;
  return { state: null, class: null, search: { inPlan, inRecord, inErrors: null } };
}
