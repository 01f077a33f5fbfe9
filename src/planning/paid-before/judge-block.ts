import { currencyName } from '../../core/currencies.js';
import { parseOrderId, UNDO } from '../../core/ids.js';
import type { Order } from '../../core/order.js';
import type { PaidBefore } from '../../core/paid-before.js';
import { contentHash, digestOf, hashRow, type RowHashes, referenceHash } from '../../core/reference.js';
import type { Finding, InvalidRow, OrderRow, Row } from '../../csv/row.js';
import { type PlanRow, planning, type ReferenceHolder, reading } from '../../ledger/index.js';
import { orderWords } from '../../words/amounts.js';
import { isoTime } from '../../words/spelling.js';
import { EarlierWords } from './earlier-words.js';
import {
  denial,
  type EarlierBatch,
  findingOf,
  type Judging,
  judgeStandIn,
  judgeUndo,
} from './judge-earlier.js';

/**
 * What only the ledger knows of a block of rows: whose reference is spent, which orders may be replaced,
 * what an undo row undoes. Reads only; the put of the block asks the same again, under its own roof.
 */
export type JudgedBlock = {
  readonly rows: JudgedRow[];
  /** Rows whose order a row of another batch stands in for; if that is this very batch, nothing is wrong. */
  readonly replaced: { readonly no: string; readonly finding: Finding }[];
  readonly warnings: Finding[];
  /** Duplicates by the number of the batch that holds the reference. */
  readonly duplicates: { readonly no: string; readonly order: Order }[];
};

type JudgedRow = {
  /** The row as given, save that one which the ledger refuses has become invalid. */
  readonly row: Row;
  readonly planned: PlanRow;
  /** Undefined where it is no order. */
  readonly hashes: RowHashes | undefined;
  /**
   * The batch of the equal order that the row stands in for. A duplicate or invalid row was no order; and a row that was
   * mended is another payment, which that order's batch was never compared for.
   */
  readonly since?: string | undefined;
  /** The batch of the order that it stands in for, equal or not. */
  readonly replacedNo?: string | undefined;
};

export class BlockJudge {
  private readonly earlier: EarlierWords;

  constructor(private readonly judging: Judging) {
    this.earlier = new EarlierWords(judging.ledger, judging.plans);
  }

  async judge(rows: readonly Row[], skipInvalid: boolean): Promise<JudgedBlock> {
    const [spent, denied] = await Promise.all([this.spentAmong(rows), this.deniedAmong(rows)]);
    const block: JudgedBlock = { rows: [], replaced: [], warnings: [], duplicates: [] };
    for (const [at, row] of rows.entries()) {
      if (row.kind === 'invalid') {
        block.rows.push(judgedInvalid(row));
        continue;
      }
      const holder = row.reference === null ? undefined : spent.get(row.reference);
      const hashes = row.hashes ?? hashRow(row);
      // Awaiting every row would cost more than everything else that is done to it.
      if (!needsAsking(row, holder)) {
        block.rows.push({ row, planned: plannedOrder(row, repeated(row), null), hashes });
        continue;
      }
      const findings: Finding[] = [];
      const planned = await this.judgeOrder(row, holder, hashes.content, findings);
      const why = denied.get(at);
      if (row.replaces !== null && why !== undefined) {
        const against = await denial(this.judging.ledger, 'replaces', row.replaces, why);
        const place = why === 'gone' ? null : await this.placeOf(row.replaces);
        const beside = place === null ? '' : await this.earlier.beside(place, row.order);
        const finding = findingOf(row.line, { ...against, message: against.message + beside });
        if (typeof why === 'object' && 'replacedBy' in why && !skipInvalid)
          block.replaced.push({ no: why.replacedBy, finding });
        else findings.push(finding);
      }
      const old = why === undefined ? await this.stoodInFor(row) : null;
      const other = old && judgeStandIn(row, old, this.judging);
      if (other !== null) findings.push(findingOf(row.line, other));
      if (findings.length > 0) {
        block.rows.push(judgedInvalid({ kind: 'invalid', line: row.line, cells: row.cells, findings }));
        continue;
      }
      if (holder !== undefined && planned.duplicateOf !== null && row.repeats === undefined) {
        block.duplicates.push({ no: holder.no, order: row.order });
        if (holder.arrivesUntil !== null)
          block.warnings.push(this.notPaidHere(row, planned.duplicateOf, holder.arrivesUntil));
      }
      const isEqual =
        old !== null && reading.orders.isPlanned(old.row) && contentHash(old.row.order) === hashes.content;
      block.rows.push({
        row,
        planned,
        hashes,
        since: isEqual ? old.batch.no : undefined,
        replacedNo: old?.batch.no,
      });
    }
    return block;
  }

  private spentAmong(rows: readonly Row[]): Promise<Map<string, ReferenceHolder>> {
    const references: string[] = [];
    const hashes: string[] = [];
    for (const row of rows) {
      if (row.kind !== 'order' || row.reference === null) continue;
      references.push(row.reference);
      hashes.push(row.hashes?.reference ?? referenceHash(row.reference));
    }
    return planning.references.spent(this.judging.ledger, references, hashes);
  }

  private async judgeOrder(
    row: OrderRow,
    holder: ReferenceHolder | undefined,
    content: string,
    faults: Finding[],
  ): Promise<PlanRow> {
    let duplicateOf = repeated(row);
    if (holder !== undefined) {
      const against = await this.otherUnder(row, holder, content);
      const column = this.judging.nameOf('reference') ?? 'reference';
      if (against === null) duplicateOf ??= await this.earlier.idOf(holder);
      else faults.push(findingOf(row.line, { ...against, column }));
    }
    if (!isUndo(row)) return plannedOrder(row, duplicateOf, null);
    const undoes = await judgeUndo(row, this.judging);
    if ('code' in undoes) faults.push(findingOf(row.line, undoes));
    return plannedOrder(row, duplicateOf, 'shard' in undoes ? undoes : null);
  }

  /** The order that holds the row's reference and is another one; null where it is the same, so that the row is its duplicate. */
  private async otherUnder(
    row: OrderRow,
    holder: ReferenceHolder,
    content: string,
  ): Promise<PaidBefore | null> {
    // An award is made once in a period, whatever it would come to now.
    if (this.judging.isRun) return null;
    const order = await this.earlier.idOf(holder);
    const spent = `The reference ${JSON.stringify(row.reference)} is already spent by order ${order}`;
    const other = (await this.placeOf(order))?.batch.currency;
    const code = 'ALM_ROW_REFERENCE_SPENT';
    if (other !== undefined && other !== this.judging.currency)
      return {
        order,
        code,
        message: `${spent} in ${currencyName(other)}; this run is in ${currencyName(this.judging.currency)}.`,
      };
    if (digestOf(content) === holder.digest) return null;
    const beside = await this.earlier.beside(holder, row.order);
    return { order, code, message: `${spent}, which has other content.${beside}` };
  }

  private async stoodInFor({ replaces }: OrderRow): Promise<{ batch: EarlierBatch; row: PlanRow } | null> {
    const old = replaces === null ? null : await this.placeOf(replaces);
    return old && { batch: old.batch, row: await this.judging.plans.row(old.no, old.index) };
  }

  /** Null where the books have no such batch. */
  private async placeOf(order: string) {
    const named = parseOrderId(order);
    const batch = named === undefined ? null : await this.judging.batches.find(named.batch);
    return named === undefined || batch === null ? null : { batch, no: batch.no, index: named.index };
  }

  /** Why rows, by their place, may not stand in for the orders they name. */
  private async deniedAmong(rows: readonly Row[]): Promise<Map<number, planning.EarlierWhy>> {
    const orders: planning.BlockClaims['replaces'][number][] = [];
    const denied = new Map<number, planning.EarlierWhy>();
    for (const [at, row] of rows.entries()) {
      if (row.kind !== 'order' || row.replaces === null) continue;
      const old = await this.placeOf(row.replaces);
      if (old === null) denied.set(at, 'gone');
      else orders.push([old.no, String(old.index), String(at)]);
    }
    for (const { row, why } of await planning.earlier.judgeReplaced(this.judging.ledger, orders))
      denied.set(row, why);
    return denied;
  }

  /** The one duplicate whose order nobody pays by itself: a person said unpaid, and it is too early to pay it again. */
  private notPaidHere({ line, reference, order }: OrderRow, held: string, arrivesUntil: number): Finding {
    const message = `The reference ${JSON.stringify(reference)} is kept by order ${held} (${orderWords(order)}), which was resolved as unpaid and whose request may still arrive until ${isoTime(arrivesUntil)}. This row does not pay it; \`almoner dead retry ${held}\` does, after that.`;
    const column = this.judging.nameOf('reference') ?? 'reference';
    return { line, column, code: 'ALM_ROW_ORDER_MAY_BE_PAID', message };
  }
}

/** Only the ledger can speak of what it holds: a spent reference, an order replaced, an order undone. */
function needsAsking(row: OrderRow, holder: ReferenceHolder | undefined): boolean {
  return holder !== undefined || row.replaces !== null || isUndo(row);
}

function isUndo(row: OrderRow): boolean {
  return row.reference?.startsWith(UNDO) === true;
}

function repeated(row: OrderRow): string | null {
  return row.repeats === undefined ? null : `of line ${row.repeats} of this file`;
}

function plannedOrder(row: OrderRow, duplicateOf: string | null, undoes: PlanRow['undoes']): PlanRow {
  const { line, cells, order, reference, reason, replaces } = row;
  return { line, order, reference, reason, replaces, cells, fault: null, duplicateOf, undoes };
}

function judgedInvalid(row: InvalidRow): JudgedRow {
  const [fault] = row.findings;
  const planned: PlanRow = {
    line: row.line,
    order: null,
    reference: null,
    reason: null,
    replaces: null,
    cells: row.cells,
    fault: fault === undefined ? null : { code: fault.code, message: fault.message },
    duplicateOf: null,
    undoes: null,
  };
  return { row, planned, hashes: undefined };
}
