import type { ErrorCode } from '../core/errors/catalogue.js';
import { type BatchId, batchId, type OrderId, orderId, parseOrderId } from '../core/ids.js';
import type { OrderState } from '../core/states.js';
import { batchNumber } from '../ledger/batches.js';
import type { Books } from '../ledger/books.js';
import { storeNowMs } from '../ledger/feeding.js';
import { batchKeys } from '../ledger/keys.js';
import type { PlanRow } from '../ledger/plan-block.js';
import { findSpent, type PlanReader } from '../ledger/plan-store.js';
import {
  hashRow,
  type ReferenceHolder,
  type RowHashes,
  referenceHash,
  referenceKey,
} from '../ledger/reference.js';
import { readRecord, stateOf } from '../ledger/rows.js';
import type { Finding, InvalidRow, OrderRow, Row } from './row.js';

/**
 * What only the ledger knows of a block of rows: whose reference is spent, which orders may be replaced,
 * what an undo row undoes. Reads only; the put of the block asks the same again, under its own roof.
 */
export type JudgedBlock = {
  /** The rows as given, save that with `skipInvalid` a row that the ledger refuses has become invalid. */
  readonly rows: readonly Row[];
  readonly planned: readonly PlanRow[];
  /** Of each planned row that is an order. */
  readonly hashes: readonly (RowHashes | undefined)[];
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
  /** Duplicates by the number of the batch that holds the reference. */
  readonly duplicates: readonly { readonly no: string; readonly tokens: number }[];
};

export class BlockJudge {
  private readonly numbers = new Map<BatchId, Promise<string | null>>();
  private readonly ids = new Map<string, Promise<BatchId>>();
  private readonly states = new Map<string, Promise<string | null>>();

  constructor(
    private readonly books: Books,
    private readonly plans: PlanReader,
  ) {}

  async judge(rows: readonly Row[], skipInvalid: boolean): Promise<JudgedBlock> {
    const spent = await this.spentAmong(rows);
    const rowsOut: Row[] = [];
    const planned: PlanRow[] = [];
    const hashes: (RowHashes | undefined)[] = [];
    const faults: Finding[] = [];
    const warnings: Finding[] = [];
    const duplicates: { no: string; tokens: number }[] = [];
    const carry = (row: InvalidRow) => {
      rowsOut.push(row);
      planned.push(plannedInvalid(row));
      hashes.push(undefined);
    };
    for (const row of rows) {
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
      if (own.length > 0 && skipInvalid) {
        rowsOut.pop();
        hashes.pop();
        carry({ kind: 'invalid', line: row.line, cells: row.cells, findings: own });
        continue;
      }
      faults.push(...own);
      if (holder !== undefined && plan.duplicateOf !== null) {
        duplicates.push({ no: holder.no, tokens: row.order.tokens });
        if (holder.arrivesUntil !== null)
          warnings.push(notPaidHere(row, plan.duplicateOf, holder.arrivesUntil));
      }
      planned.push(plan);
    }
    return { rows: rowsOut, planned, hashes, faults, warnings, duplicates };
  }

  private spentAmong(rows: readonly Row[]): Promise<Map<string, ReferenceHolder>> {
    const references: string[] = [];
    const hashes: string[] = [];
    for (const row of rows) {
      if (row.kind !== 'order' || row.reference === null || row.repeats !== undefined) continue;
      references.push(row.reference);
      hashes.push(row.hashes?.reference ?? referenceHash(row.reference));
    }
    return findSpent(this.books, references, hashes);
  }

  private async judgeOrder(
    row: OrderRow,
    holder: ReferenceHolder | undefined,
    content: string,
    faults: Finding[],
  ): Promise<PlanRow> {
    const fault = (column: string, code: ErrorCode, message: string) =>
      faults.push({ line: row.line, column, code, message });
    let duplicateOf = repeated(row);
    if (holder !== undefined) {
      const held = orderId(await this.idOf(holder.no), holder.index);
      if (content.startsWith(holder.digest)) duplicateOf ??= held;
      else
        fault(
          'reference',
          'ALM_ROW_REFERENCE_SPENT',
          `The reference ${JSON.stringify(row.reference)} is already spent by order ${held}, which has other content.`,
        );
    }
    if (row.replaces !== null) await this.judgeReplaced(row.replaces, fault);
    return plannedOrder(row, duplicateOf, await this.undone(row, fault));
  }

  private async judgeReplaced(
    replaces: OrderId,
    fault: (column: string, code: ErrorCode, message: string) => void,
  ): Promise<void> {
    const found = await this.orderState(replaces);
    if (found === undefined) {
      fault('almoner_order', 'ALM_ROW_ORDER_UNKNOWN', `Order ${replaces} is not in the books of this realm.`);
      return;
    }
    if (await this.isArchived(found.no)) {
      fault(
        'almoner_order',
        'ALM_ROW_ORDER_ARCHIVED',
        `Order ${replaces} is ${found.state} and archived: nothing would keep a second file from standing in for it again.`,
      );
      return;
    }
    const may = ['refused', 'exhausted', 'cancelled', 'invalid', 'duplicate'].includes(found.state);
    if (found.arrivesUntil !== null && found.arrivesUntil > (await storeNowMs(this.books)))
      fault(
        'almoner_order',
        'ALM_ROW_ORDER_MAY_BE_PAID',
        `Order ${replaces} was resolved as unpaid, and its request may still arrive until ${isoTime(found.arrivesUntil)}: this row would pay it twice. Run it after that.`,
      );
    else if (!may)
      fault(
        'almoner_order',
        'ALM_ROW_ORDER_MAY_BE_PAID',
        `Order ${replaces} is ${found.state}: it was paid or may still be paid, so this row would pay it twice.`,
      );
    else if (found.replacedBy !== null)
      fault(
        'almoner_order',
        'ALM_ROW_ORDER_REPLACED',
        `Order ${replaces} was already put into another file (batch ${await this.idOf(found.replacedBy)}).`,
      );
  }

  /** An undo row names the order it undoes; that order's reference is freed when the undo is paid. */
  private async undone(
    row: OrderRow,
    fault: (column: string, code: ErrorCode, message: string) => void,
  ): Promise<PlanRow['undoes']> {
    const named =
      row.reference?.startsWith(UNDO) === true ? parseOrderId(row.reference.slice(UNDO.length)) : undefined;
    if (named === undefined) return null;
    const undone = orderId(named.batch, named.index);
    const found = await this.orderState(undone);
    if (found?.state !== 'paid') {
      fault(
        'reference',
        'ALM_ROW_UNDO_NOT_PAID',
        `Order ${undone} is ${found?.state ?? 'not in the books of this realm'}, so there is nothing to undo.`,
      );
      return null;
    }
    const original = await this.plans.row(found.no, named.index);
    if (original.reference === null) return null;
    const key = referenceKey(original.reference);
    return {
      shard: key.shard,
      fieldHex: key.field.toString('hex'),
      no: found.no,
      index: String(named.index),
    };
  }

  private async orderState(
    id: OrderId,
  ): Promise<
    { no: string; state: OrderState; replacedBy: string | null; arrivesUntil: number | null } | undefined
  > {
    const parsed = parseOrderId(id);
    if (parsed === undefined) return undefined;
    const no = await this.numberOf(parsed.batch);
    if (no === null) return undefined;
    const ref = { books: this.books, no, id: parsed.batch };
    const record = await readRecord(ref, parsed.index);
    const { replacedBy, arrivesUntil } = record;
    return { no, state: stateOf(record, await this.isCancelled(no)), replacedBy, arrivesUntil };
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

  private numberOf(id: BatchId): Promise<string | null> {
    return remembered(this.numbers, id, () => batchNumber(this.books, id));
  }

  private idOf(no: string): Promise<BatchId> {
    return remembered(this.ids, no, async () => batchId((await this.field(no, 'id')) ?? 'unknown'));
  }

  private async isCancelled(no: string): Promise<boolean> {
    const state = await this.stateOf(no);
    return state === 'cancelled' || (state === 'archived' && (await this.field(no, 'ended')) === 'cancelled');
  }

  private async isArchived(no: string): Promise<boolean> {
    return (await this.stateOf(no)) === 'archived';
  }

  private stateOf(no: string): Promise<string | null> {
    return remembered(this.states, no, () => this.field(no, 'state'));
  }

  private field(no: string, name: string): Promise<string | null> {
    const { caller, realm } = this.books;
    return caller.patiently('read batch', () => caller.redis.hget(batchKeys(realm, no).meta, name));
  }
}

/** Only the ledger can speak of what it holds: a spent reference, an order replaced, an order undone. */
function needsAsking(row: OrderRow, holder: ReferenceHolder | undefined): boolean {
  return holder !== undefined || row.replaces !== null || row.reference?.startsWith(UNDO) === true;
}

const UNDO = 'undo:';

/** The one duplicate whose order nobody pays by itself: a person said unpaid, and it is too early to pay it again. */
function notPaidHere({ line, reference }: OrderRow, order: string, arrivesUntil: number): Finding {
  const message = `The reference ${JSON.stringify(reference)} is kept by order ${order}, which was resolved as unpaid and whose request may still arrive until ${isoTime(arrivesUntil)}. This row does not pay it; \`almoner dead retry ${order}\` does, after that.`;
  return { line, column: 'reference', code: 'ALM_ROW_ORDER_MAY_BE_PAID', message };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
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

function remembered<K, V>(memory: Map<K, Promise<V>>, key: K, ask: () => Promise<V>): Promise<V> {
  const known = memory.get(key) ?? ask();
  memory.set(key, known);
  return known;
}
