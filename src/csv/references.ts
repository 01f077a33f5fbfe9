import { DenseIndex, floats, mix, words32 } from '../core/dense-index.js';
import { contentOf, type Order, signedTokens } from '../core/order.js';
import { PackedIds, packId } from '../core/packed-ids.js';
import { tokens } from '../core/points.js';
import { referenceHash } from '../core/reference.js';
import { show } from '../core/visible.js';
import { orderWords } from '../words/amounts.js';
import type { Finding, OrderRow, Row } from './row.js';

/**
 * Compares the rows of one file. The same reference with the same content is a duplicate; with other content it is a
 * fault that names both rows. At most one row may stand in for an order.
 */
export class References {
  readonly #references = new FirstLines();
  readonly #orders = new PackedOrders();
  readonly #replaced = new FirstLines();

  /** Judges a row by the rows before it. Returns it unchanged, as a duplicate, or as invalid. */
  judge(row: OrderRow, column: string): Row {
    if (row.reference === null && row.replaces === null) return row;
    const findings = this.#replacedTwice(row);
    const same = this.#sameReference(row, column);
    if (typeof same === 'object') findings.push(same);
    if (findings.length > 0) return { kind: 'invalid', line: row.line, findings, cells: row.cells };
    return typeof same === 'number' ? { ...row, repeats: same } : row;
  }

  #replacedTwice({ replaces, line }: OrderRow): Finding[] {
    if (replaces === null) return [];
    const { entry, isNew } = this.#replaced.enter(referenceHash(replaces), line);
    if (isNew) return [];
    const message = `Order ${replaces} is already on line ${this.#replaced.lineOf(entry)}; both rows would pay it.`;
    return [{ line, column: 'almoner_order', code: 'ALM_ROW_ORDER_TWICE', message }];
  }

  /** Returns the line of the row that it repeats, a fault, or undefined. */
  #sameReference(row: OrderRow, column: string): number | Finding | undefined {
    if (row.reference === null) return undefined;
    const key = row.hashes?.reference ?? referenceHash(row.reference);
    const { entry, isNew } = this.#references.enter(key, row.line);
    if (isNew) {
      this.#orders.set(entry, row.order);
      return undefined;
    }
    const first = this.#references.lineOf(entry);
    const order = this.#orders.get(entry);
    if (contentOf(order) === contentOf(row.order)) return first;
    const message = `The reference ${show(row.reference)} is on line ${first} for another order: ${orderWords(order)}. This row: ${orderWords(row.order)}. The same reference is allowed only for the same op, member, recipient and tokens.`;
    return { line: row.line, column, code: 'ALM_ROW_REFERENCE_CONFLICT', message };
  }
}

/** The full content of each entry, in 18 bytes; in a file of transfers in 28. */
class PackedOrders {
  readonly #member = new PackedIds();
  readonly #recipient = new PackedIds();
  /** Negative for a debit. */
  readonly #tokens = floats();

  set(entry: number, order: Order): void {
    this.#member.set(entry, packId(order.member));
    if (order.recipient !== null) this.#recipient.set(entry, packId(order.recipient));
    this.#tokens.set(entry, signedTokens(order));
  }

  get(entry: number): Order {
    const signed = this.#tokens.get(entry);
    const what = { member: this.#member.idOf(entry), tokens: tokens(Math.abs(signed)) };
    return this.#recipient.lengthOf(entry) > 0
      ? { ...what, op: 'transfer', recipient: this.#recipient.idOf(entry) }
      : { ...what, op: signed < 0 ? 'debit' : 'credit', recipient: null };
  }
}

/**
 * The line on which each key of a file first occurred. It keeps 96 bits of the key's SHA-256: 16 bytes and an index
 * slot per key. Among five million keys, two collide with a chance of 10^-16.
 */
class FirstLines {
  readonly #index = new DenseIndex();
  readonly #a = words32();
  readonly #b = words32();
  readonly #c = words32();
  readonly #line = words32();
  readonly #hashOf = (entry: number) => mix(this.#a.get(entry), this.#b.get(entry), this.#c.get(entry));

  /** Finds or adds a key (as `referenceHash` makes it), and says whether it is new. */
  enter(key: string, line: number): { readonly entry: number; readonly isNew: boolean } {
    // The key holds four hex digits, then ten bytes.
    const a = ((Number.parseInt(key.slice(0, 4), 16) << 16) | (word(key, 10) & 0xffff)) >>> 0;
    const b = word(key, 4);
    const c = word(key, 8);
    const size = this.#index.size;
    const entry = this.#index.find(
      mix(a, b, c),
      (other) => this.#a.get(other) === a && this.#b.get(other) === b && this.#c.get(other) === c,
      this.#hashOf,
    );
    if (entry < size) return { entry, isNew: false };
    this.#a.set(entry, a);
    this.#b.set(entry, b);
    this.#c.set(entry, c);
    this.#line.set(entry, line);
    return { entry, isNew: true };
  }

  lineOf(entry: number): number {
    return this.#line.get(entry);
  }
}

function word(digest: string, at: number): number {
  const high = (digest.charCodeAt(at) << 24) | (digest.charCodeAt(at + 1) << 16);
  return (high | (digest.charCodeAt(at + 2) << 8) | digest.charCodeAt(at + 3)) >>> 0;
}
