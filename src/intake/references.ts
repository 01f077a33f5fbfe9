import { hashRow } from '../ledger/reference.js';
import { DenseIndex, fold, mix } from './dense-index.js';
import { words32 } from './paged-column.js';
import type { OrderRow, Row } from './row.js';
import { show } from './visible.js';

/**
 * The references of one file: the same reference with the same content is a duplicate, with other content a
 * fault. Kept as 96 bits of the reference's SHA-256 and 64 of the content's, 24 bytes and an index slot for
 * each: among five million references two are taken for one with a chance of 10^-16.
 */
export class References {
  readonly #index = new DenseIndex();
  readonly #a = words32();
  readonly #b = words32();
  readonly #c = words32();
  readonly #contentA = words32();
  readonly #contentB = words32();
  readonly #line = words32();
  readonly #hashOf = (entry: number) => mix(this.#a.get(entry), this.#b.get(entry), this.#c.get(entry));

  /** Judges a row by the rows before it; returns it as it was, as a duplicate, or as invalid. */
  judge(row: OrderRow, column: string): Row {
    if (row.reference === null) return row;
    const hashes = row.hashes ?? hashRow(row);
    const key = hashes.reference ?? '';
    // Four hex digits, then ten bytes.
    const a = ((Number.parseInt(key.slice(0, 4), 16) << 16) | (word(key, 10) & 0xffff)) >>> 0;
    const b = word(key, 4);
    const c = word(key, 8);
    const content = hashes.content.slice(0, 11);
    const contentA = fold(content, 0x811c9dc5);
    const contentB = fold(content, 0x2f0b4a27);
    const size = this.#index.size;
    const entry = this.#index.find(
      mix(a, b, c),
      (other) => this.#a.get(other) === a && this.#b.get(other) === b && this.#c.get(other) === c,
      this.#hashOf,
    );
    if (entry === size) {
      this.#a.set(entry, a);
      this.#b.set(entry, b);
      this.#c.set(entry, c);
      this.#contentA.set(entry, contentA);
      this.#contentB.set(entry, contentB);
      this.#line.set(entry, row.line);
      return row;
    }
    const first = this.#line.get(entry);
    if (this.#contentA.get(entry) === contentA && this.#contentB.get(entry) === contentB)
      return { ...row, repeats: first };
    const message = `The reference ${show(row.reference)} stands on line ${first} for another order; the same reference is allowed only for the same op, member, recipient and tokens.`;
    const finding = { line: row.line, column, code: 'ALM_ROW_REFERENCE_CONFLICT', message } as const;
    return { kind: 'invalid', line: row.line, findings: [finding], cells: row.cells };
  }
}

function word(digest: string, at: number): number {
  const high = (digest.charCodeAt(at) << 24) | (digest.charCodeAt(at + 1) << 16);
  return (high | (digest.charCodeAt(at + 2) << 8) | digest.charCodeAt(at + 3)) >>> 0;
}
