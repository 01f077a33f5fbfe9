import { type BatchId, orderId, parseOrderId, UNDO } from '../core/ids.js';
import { contentHash, hashRow, type RowHashes, referenceHash } from '../core/reference.js';
import type { Column } from '../csv/columns.js';
import type { Finding, InvalidRow, OrderRow, Row } from '../csv/row.js';
import type { EarlierWhy } from '../ledger/index.js';
import {
  batchRef,
  type EarlierOrder,
  findSpent,
  isPlannedOrder,
  judgeReplaced,
  type PlanReader,
  type PlanRow,
  type RealmLedger,
  type ReferenceHolder,
} from '../ledger/index.js';
import {
  denial,
  type EarlierBatch,
  EarlierBatches,
  isoTime,
  judgeStandIn,
  UndoJudge,
} from './judge-earlier.js';

/**
 * What only the ledger knows of a block of rows: whose reference is spent, which orders may be replaced,
 * what an undo row undoes. Reads only; the put of the block asks the same again, under its own roof.
 */
export type JudgedBlock = {
  /** The rows as given, save that a row which the ledger refuses has become invalid. */
  readonly rows: readonly Row[];
  readonly planned: readonly PlanRow[];
  /** The hashes of each planned row; undefined where it is no order. */
  readonly hashes: readonly (RowHashes | undefined)[];
  /**
   * The batch of the equal order that a row stands in for. A duplicate or invalid row was no order; and a row that was
   * mended is another payment, which that order's batch was never compared for.
   */
  readonly since: readonly (string | undefined)[];
  /** Rows whose order a row of another batch stands in for; if that is this very batch, nothing is wrong. */
  readonly replaced: readonly { readonly no: string; readonly finding: Finding }[];
  readonly warnings: readonly Finding[];
  /** Duplicates by the number of the batch that holds the reference. */
  readonly duplicates: readonly { readonly no: string; readonly tokens: number }[];
};

export class BlockJudge {
  private readonly batches: EarlierBatches;
  private readonly ids = new Map<string, Promise<BatchId>>();
  private readonly undo: UndoJudge;

  constructor(
    private readonly ledger: RealmLedger,
    private readonly plans: PlanReader,
    private readonly currency: string | null,
    private readonly nameOf: (column: Column) => string | undefined,
  ) {
    this.batches = new EarlierBatches(ledger);
    this.undo = new UndoJudge(ledger, plans, this.batches, currency, nameOf);
  }

  async judge(rows: readonly Row[], skipInvalid: boolean): Promise<JudgedBlock> {
    const [spent, denied] = await Promise.all([this.spentAmong(rows), this.deniedAmong(rows)]);
    const rowsOut: Row[] = [];
    const planned: PlanRow[] = [];
    const hashes: (RowHashes | undefined)[] = [];
    const since: (string | undefined)[] = [];
    const replaced: { no: string; finding: Finding }[] = [];
    const warnings: Finding[] = [];
    const duplicates: { no: string; tokens: number }[] = [];
    const carry = (row: InvalidRow) => {
      rowsOut.push(row);
      planned.push(plannedInvalid(row));
      hashes.push(undefined);
    };
    for (const [at, row] of rows.entries()) {
      if (row.kind === 'invalid') {
        carry(row);
        continue;
      }
      const holder = row.reference === null ? undefined : spent.get(row.reference);
      const hashed = row.hashes ?? hashRow(row);
      rowsOut.push(row);
      hashes.push(hashed);
      // Awaiting every row would cost more than everything else that is done to it.
      if (!needsAsking(row, holder)) {
        planned.push(plannedOrder(row, repeated(row), null));
        continue;
      }
      const own: Finding[] = [];
      const plan = await this.judgeOrder(row, holder, hashed.content, own);
      const why = denied.get(at);
      if (row.replaces !== null && why !== undefined) {
        const finding = { line: row.line, ...(await denial(this.ledger, 'replaces', row.replaces, why)) };
        if (typeof why === 'object' && 'replacedBy' in why && !skipInvalid)
          replaced.push({ no: why.replacedBy, finding });
        else own.push(finding);
      }
      const old = why === undefined ? await this.stoodInFor(row) : null;
      const other = old && judgeStandIn(row, old, this.currency, this.nameOf('reference') ?? 'reference');
      if (other !== null) own.push({ line: row.line, ...other });
      if (own.length > 0) {
        rowsOut.pop();
        hashes.pop();
        carry({ kind: 'invalid', line: row.line, cells: row.cells, findings: own });
        continue;
      }
      if (holder !== undefined && plan.duplicateOf !== null && row.repeats === undefined) {
        duplicates.push({ no: holder.no, tokens: row.order.tokens });
        if (holder.arrivesUntil !== null)
          warnings.push(notPaidHere(row, plan.duplicateOf, holder.arrivesUntil));
      }
      if (old !== null && isPlannedOrder(old.row) && contentHash(old.row.order) === hashed.content)
        since[at] = old.batch.no;
      planned.push(plan);
    }
    return { rows: rowsOut, planned, hashes, since, replaced, warnings, duplicates };
  }

  private spentAmong(rows: readonly Row[]): Promise<Map<string, ReferenceHolder>> {
    const references: string[] = [];
    const hashes: string[] = [];
    for (const row of rows) {
      if (row.kind !== 'order' || row.reference === null) continue;
      references.push(row.reference);
      hashes.push(row.hashes?.reference ?? referenceHash(row.reference));
    }
    return findSpent(this.ledger, references, hashes);
  }

  private async judgeOrder(
    row: OrderRow,
    holder: ReferenceHolder | undefined,
    content: string,
    faults: Finding[],
  ): Promise<PlanRow> {
    let duplicateOf = repeated(row);
    if (holder !== undefined) {
      const held = orderId(await this.idOf(holder.no), holder.index);
      if (content.startsWith(holder.digest)) duplicateOf ??= held;
      else
        faults.push({
          line: row.line,
          column: this.nameOf('reference') ?? 'reference',
          code: 'ALM_ROW_REFERENCE_SPENT',
          message: `The reference ${JSON.stringify(row.reference)} is already spent by order ${held}, which has other content.`,
        });
    }
    if (!isUndo(row)) return plannedOrder(row, duplicateOf, null);
    const undoes = await this.undo.judge(row);
    if (!('code' in undoes)) return plannedOrder(row, duplicateOf, undoes);
    faults.push({ line: row.line, ...undoes });
    return plannedOrder(row, duplicateOf, null);
  }

  private async stoodInFor({ replaces }: OrderRow): Promise<{ batch: EarlierBatch; row: PlanRow } | null> {
    const old = replaces === null ? undefined : parseOrderId(replaces);
    const batch = old === undefined ? null : await this.batches.find(old.batch);
    return old === undefined || batch === null
      ? null
      : { batch, row: await this.plans.row(batch.no, old.index) };
  }

  /** Why rows, by their place, may not stand in for the orders they name. */
  private async deniedAmong(rows: readonly Row[]): Promise<Map<number, EarlierWhy>> {
    const orders: EarlierOrder[] = [];
    const denied = new Map<number, EarlierWhy>();
    for (const [at, row] of rows.entries()) {
      if (row.kind !== 'order' || row.replaces === null) continue;
      const old = parseOrderId(row.replaces);
      const no = old === undefined ? null : await this.numberOf(old.batch);
      if (old === undefined || no === null) denied.set(at, 'gone');
      else orders.push([no, String(old.index), String(at)]);
    }
    for (const { row, why } of await judgeReplaced(this.ledger, orders)) denied.set(row, why);
    return denied;
  }

  /** The numbers of the batches whose orders these rows stand in for. */
  async replacedNumbers(rows: readonly PlanRow[]): Promise<Map<BatchId, string>> {
    const numbers = new Map<BatchId, string>();
    for (const { replaces } of rows) {
      const old = replaces === null ? undefined : parseOrderId(replaces)?.batch;
      const no = old === undefined ? null : await this.numberOf(old);
      if (old !== undefined && no !== null) numbers.set(old, no);
    }
    return numbers;
  }

  private async numberOf(id: BatchId): Promise<string | null> {
    return (await this.batches.find(id))?.no ?? null;
  }

  private idOf(no: string): Promise<BatchId> {
    const known = this.ids.get(no) ?? batchRef(this.ledger, no).then(({ id }) => id);
    this.ids.set(no, known);
    return known;
  }
}

/** Only the ledger can speak of what it holds: a spent reference, an order replaced, an order undone. */
function needsAsking(row: OrderRow, holder: ReferenceHolder | undefined): boolean {
  return holder !== undefined || row.replaces !== null || isUndo(row);
}

function isUndo(row: OrderRow): boolean {
  return row.reference?.startsWith(UNDO) === true;
}

/** The one duplicate whose order nobody pays by itself: a person said unpaid, and it is too early to pay it again. */
function notPaidHere({ line, reference }: OrderRow, order: string, arrivesUntil: number): Finding {
  const message = `The reference ${JSON.stringify(reference)} is kept by order ${order}, which was resolved as unpaid and whose request may still arrive until ${isoTime(arrivesUntil)}. This row does not pay it; \`almoner dead retry ${order}\` does, after that.`;
  return { line, column: 'reference', code: 'ALM_ROW_ORDER_MAY_BE_PAID', message };
}

function repeated(row: OrderRow): string | null {
  return row.repeats === undefined ? null : `of line ${row.repeats} of this file`;
}

function plannedOrder(row: OrderRow, duplicateOf: string | null, undoes: PlanRow['undoes']): PlanRow {
  const { line, cells, order, reference, reason, replaces } = row;
  return { line, order, reference, reason, replaces, cells, fault: null, duplicateOf, undoes };
}

function plannedInvalid(row: InvalidRow): PlanRow {
  const [fault] = row.findings;
  return {
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
}
