import { AlmonerError } from '../core/errors/error.js';
import { OPS, type Op } from '../core/order.js';
import { ORDER_STATES, type OrderState } from '../core/states.js';
import type { BatchView, RowView } from '../ledger/index.js';

/**
 * Law 7: every order is in exactly one state, and counts and sums tie to the manifest. This class ignores the
 * ledger's counters and adds the rows up again while they stream into the files. A report that does not tie is not
 * written, because a wrong report is worse than none.
 */
export class Reconciliation {
  readonly counts = zeros(ORDER_STATES, 0);
  readonly sums = zeros(ORDER_STATES, 0n);
  readonly #opCounts = zeros(OPS, 0);
  readonly #opSums = zeros(OPS, 0n);
  readonly #faults: string[] = [];
  #rows = 0;
  #lastIndex: number | undefined;

  constructor(private readonly batch: BatchView) {}

  get rows(): number {
    return this.#rows;
  }

  add(row: RowView): void {
    this.#rows += 1;
    this.counts[row.state] += 1;
    const next = (this.#lastIndex ?? row.index - 1) + 1;
    // A recovered batch has only the rows that journals know, so its indexes may have gaps.
    const follows = this.batch.recovered ? row.index >= next : row.index === next;
    if (!follows) this.#fault(`row ${row.index} follows row ${this.#lastIndex}`);
    this.#lastIndex = row.index;

    // A row that never became an order moves no points, whatever its cells contain.
    if (row.state === 'invalid') return;
    if (row.op === null || row.tokens === null || !(row.tokens > 0)) {
      this.#fault(`order ${row.order} is ${row.state} and has no content`);
      return;
    }
    const amount = BigInt(row.tokens);
    this.sums[row.state] += amount;
    this.#opCounts[row.op] += 1;
    this.#opSums[row.op] += amount;
  }

  /** Throws unless the rows tie to the batch's counters and to the manifest. The error names every difference. */
  check(): { readonly countsTie: true; readonly sumsTie: true } {
    const { batch } = this;
    const { manifest } = batch;
    this.#same('rows', this.#rows, manifest.rows);
    this.#same('invalid rows of the manifest', this.counts.invalid, manifest.invalid);
    for (const state of ORDER_STATES) {
      this.#same(`${state} orders`, this.counts[state], batch.counts[state] ?? 0);
      this.#same(`tokens ${state}`, this.sums[state], batch.sums[state] ?? 0n);
    }
    for (const op of OPS) {
      this.#same(`${op} orders of the manifest`, this.#opCounts[op], manifest.orders[op]);
      this.#same(`${op} tokens of the manifest`, this.#opSums[op], manifest.tokens[op]);
    }
    if (this.#faults.length > 0)
      throw new AlmonerError(
        'ALM_LEDGER_DOES_NOT_TIE',
        `The ledger of batch ${manifest.batch} does not add up: ${this.#faults[0]}. No report was written; an earlier report was left unchanged.`,
        { details: this.#faults },
      );
    return { countsTie: true, sumsTie: true };
  }

  #same(what: string, added: number | bigint, booked: number | bigint): void {
    if (added !== booked) this.#fault(`${what}: the rows add up to ${added}, the ledger says ${booked}`);
  }

  #fault(fault: string): void {
    if (this.#faults.length < FAULTS_MAX) this.#faults.push(fault);
  }
}

const FAULTS_MAX = 50;

function zeros<K extends OrderState | Op, Z extends number | bigint>(
  keys: readonly K[],
  zero: Z,
): Record<K, Z extends number ? number : bigint>;
function zeros(keys: readonly string[], zero: number | bigint): Record<string, number | bigint> {
  return Object.fromEntries(keys.map((key) => [key, zero]));
}
