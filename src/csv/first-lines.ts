import { DenseIndex, mix } from './dense-index.js';
import { words32 } from './paged-column.js';

/**
 * The line on which each key of a file stood first. Kept as 96 bits of the key's SHA-256, 16 bytes and an index slot
 * for each: among five million keys two are taken for one with a chance of 10^-16.
 */
export class FirstLines {
  readonly #index = new DenseIndex();
  readonly #a = words32();
  readonly #b = words32();
  readonly #c = words32();
  readonly #line = words32();
  readonly #hashOf = (entry: number) => mix(this.#a.get(entry), this.#b.get(entry), this.#c.get(entry));

  /** The entry of a key (as `referenceHash` gives it) and whether it is a new one, which this line has made. */
  enter(key: string, line: number): { readonly entry: number; readonly isNew: boolean } {
    // Four hex digits, then ten bytes.
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
