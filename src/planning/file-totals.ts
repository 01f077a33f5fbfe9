import type { MemberId } from '../core/ids.js';
import { absoluteOf, minus, opSums } from '../core/op-sums.js';
import { type Op, signedTokens } from '../core/order.js';
import { PointsSum } from '../core/points.js';
import type { Row, Sheet } from '../csv/row.js';
import { Amounts, fileFindings, ReadAs, Tally, type TotalsCaps } from './file-findings.js';
import { type MemberEffect, Members } from './members.js';

/** What the preview says of a file, apart from what only the ledger knows. */
export type FileTotalsResult = ReturnType<FileTotals['finish']>;

const BUSIEST_KEPT = 20;

/** Adds up a file row by row in bounded memory: about 40 MB for a million distinct members. */
export class FileTotals {
  readonly members = new Members();
  readonly amounts = new Amounts();
  readonly repeated = new Tally();
  readonly gainsAndLoses = new Tally();
  readonly swallowing: number[] = [];
  readonly readAs = new ReadAs();
  readonly #orders: Record<Op, number> = { credit: 0, debit: 0, transfer: 0 };
  readonly #sums = pointsSums();
  readonly #duplicateSums = pointsSums();
  #rows = 0;
  #invalid = 0;
  #duplicates = 0;

  /** With the sheet, cells are also looked through for rows that a quote has swallowed. */
  constructor(private readonly sheet: Sheet | null = null) {}

  add(row: Row): void {
    this.#rows++;
    if (row.kind === 'invalid') {
      this.#invalid++;
      return;
    }
    const { order, line } = row;
    for (const note of row.notes ?? []) this.readAs.note(note, line);
    this.#orders[order.op]++;
    this.#sums[order.op].add(order.tokens);
    if (row.repeats !== undefined) {
      this.#duplicates++;
      this.#duplicateSums[order.op].add(order.tokens);
      return;
    }
    this.amounts.add(order.tokens, line);
    if (this.sheet !== null && this.swallowing.length < 10 && holdsRow(row.cells, this.sheet))
      this.swallowing.push(line);
    if (order.op === 'transfer') {
      this.#touch(order.member, -order.tokens, line);
      this.#touch(order.recipient, order.tokens, line);
    } else this.#touch(order.member, signedTokens(order), line);
  }

  /** `left`: what rows that are not paid by this file sum up to. */
  finish(caps: TotalsCaps, left = 0n) {
    const tokens = opSums((op) => this.#sums[op].total);
    const duplicateTokens = opSums((op) => this.#duplicateSums[op].total);
    const payable = minus(tokens, duplicateTokens);
    const busiest = this.#busiest();
    const figures = {
      rows: this.#rows,
      total: absoluteOf(tokens),
      payable: absoluteOf(payable) - left,
    };
    return {
      /** Rows of the file, invalid and duplicate ones included; blank lines are no rows. */
      rows: this.#rows,
      invalid: this.#invalid,
      /** Rows that are orders, duplicates included, and the sums of their absolute amounts. */
      orders: { ...this.#orders },
      tokens,
      /** Rows that repeat an earlier row's reference and content, and what they would have paid. */
      duplicates: this.#duplicates,
      duplicateTokens,
      /** The sum of what would be paid: orders without duplicates. */
      payable,
      /** Distinct members, recipients included. */
      members: this.members.size,
      /** Rows of the member with most rows: what one-at-a-time sending has to wait for. */
      busiestRows: busiest[0]?.rows ?? (this.members.size > 0 ? 1 : 0),
      /** The (at most 20) members with most rows, where that is more than one. */
      busiest,
      ...fileFindings(this, figures, caps),
    };
  }

  #touch(member: MemberId, delta: number, line: number): void {
    const sizeBefore = this.members.size;
    const entry = this.members.touch(member, delta, line);
    if (entry === sizeBefore) return;
    const firstLine = this.members.firstLineOf(entry);
    if (this.members.rowsOf(entry) === 2) this.repeated.note(member, firstLine, line);
    if (this.members.turned) this.gainsAndLoses.note(member, firstLine, line);
  }

  #busiest(): MemberEffect[] {
    const top: number[] = [];
    for (let entry = 0; entry < this.members.size; entry++) {
      const rows = this.members.rowsOf(entry);
      const last = top[BUSIEST_KEPT - 1];
      if (rows < 2 || (last !== undefined && rows <= this.members.rowsOf(last))) continue;
      let at = top.length;
      while (at > 0 && this.members.rowsOf(top[at - 1] ?? 0) < rows) at--;
      top.splice(at, 0, entry);
      if (top.length > BUSIEST_KEPT) top.pop();
    }
    return top.map((entry) => this.members.effectOf(entry));
  }
}

function pointsSums(): Record<Op, PointsSum> {
  return { credit: new PointsSum(), debit: new PointsSum(), transfer: new PointsSum() };
}

/**
 * Whether a cell holds a whole line of the table. A quote opened in the last column of one row and closed in
 * that of another is perfectly good CSV, and the rows between them would quietly not be paid.
 */
function holdsRow(cells: readonly string[], sheet: Sheet): boolean {
  for (const cell of cells)
    if (cell.includes('\n')) return cell.split('\n').some((line) => isRow(line, sheet));
  return false;
}

function isRow(line: string, sheet: Sheet): boolean {
  const cells = line.split(sheet.delimiter);
  return (
    cells.length === sheet.header.length &&
    cells.length > 1 &&
    (cells.some((cell) => /^(?:<@!?)?'?[0-9]{5,20}>?$/.test(cell.trim())) ||
      /^[-+]?[0-9]+$/.test(cells[sheet.header.indexOf(sheet.spelt?.get('tokens') ?? '')]?.trim() ?? ''))
  );
}
