import { DenseIndex, mix, words32 } from '../core/dense-index.js';
import type { ContentWords } from '../core/reference.js';

/**
 * The rows of a file that nothing but their content identifies, as a multiset: equal rows stand in one list, in
 * the file's order. Known by 64 bits of the content's hash; about 30 bytes a row.
 */
export class BareRows {
  readonly #index = new DenseIndex();
  // Of each content:
  readonly #a = words32();
  readonly #b = words32();
  readonly #first = words32();
  readonly #last = words32();
  // Of each row, counted from 1:
  readonly #next = words32();
  readonly #place = words32();
  readonly #line = words32();
  #size = 0;
  readonly #hashOf = (entry: number) => mix(this.#a.get(entry), 0, 0);

  get size(): number {
    return this.#size;
  }

  get contents(): number {
    return this.#index.size;
  }

  /** `index`: the row's number in the plan. */
  add(index: number, line: number, [a, b]: ContentWords): void {
    const size = this.#index.size;
    const entry = this.#index.find(mix(a, 0, 0), (other) => this.#is(other, a, b), this.#hashOf);
    this.#size += 1;
    const row = this.#size;
    this.#place.set(row, index);
    this.#line.set(row, line);
    if (entry === size) {
      this.#a.set(entry, a);
      this.#b.set(entry, b);
      this.#first.set(entry, row);
    } else this.#next.set(this.#last.get(entry), row);
    this.#last.set(entry, row);
  }

  /** A content by the words of its hash, -1 where no row has it. Without the second word: one that may be it. */
  find(a: number, b: number | null): number {
    const same = (entry: number) => (b === null ? this.#a.get(entry) === a : this.#is(entry, a, b));
    return this.#index.seek(mix(a, 0, 0), same);
  }

  wordsOf(entry: number): ContentWords {
    return [this.#a.get(entry), this.#b.get(entry)];
  }

  /** The rows of a content, one after the other: 0 is the end. */
  firstOf(entry: number): number {
    return this.#first.get(entry);
  }

  after(row: number): number {
    return this.#next.get(row);
  }

  indexOf(row: number): number {
    return this.#place.get(row);
  }

  lineOf(row: number): number {
    return this.#line.get(row);
  }

  #is(entry: number, a: number, b: number): boolean {
    return this.#a.get(entry) === a && this.#b.get(entry) === b;
  }
}
