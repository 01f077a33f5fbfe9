/**
 * Finds the number of an entry by the hash of its key: open addressing over one Int32Array. The entries
 * themselves stand in pages of typed arrays that never move, so that a million of them cost what their
 * columns cost and growing copies only the index. A Map of a million id strings to small objects took 142 MB.
 */
export class DenseIndex {
  #slots = new Int32Array(1 << 12);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /**
   * The entry under this hash that `same` accepts, or a new number, which equals the size before the call.
   * `hashOf` is asked again for each entry when the index grows.
   */
  find(hash: number, same: (entry: number) => boolean, hashOf: (entry: number) => number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const entry = (this.#slots[slot] ?? 0) - 1;
      if (entry === -1) break;
      if (same(entry)) return entry;
      slot = (slot + 1) & mask;
    }
    const entry = this.#size++;
    this.#slots[slot] = entry + 1;
    if (this.#size * 3 > this.#slots.length * 2) this.#grow(hash, hashOf);
    return entry;
  }

  /** The entry under this hash that `same` accepts, or -1. */
  seek(hash: number, same: (entry: number) => boolean): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = (this.#slots[slot] ?? 0) - 1;
      if (entry === -1 || same(entry)) return entry;
    }
  }

  #grow(newest: number, hashOf: (entry: number) => number): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let entry = 0; entry < this.#size; entry++) {
      // The newest entry's columns are not filled in yet.
      let slot = (entry === this.#size - 1 ? newest : hashOf(entry)) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = entry + 1;
    }
    this.#slots = slots;
  }
}

/** Spreads the bits of up to three 32-bit words over one; the words are digits or parts of a digest. */
export function mix(a: number, b: number, c: number): number {
  let hash = Math.imul(a ^ Math.imul(b, 0x9e3779b1), 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash ^ Math.imul(c + 0x7f4a7c15, 0xc2b2ae35), 0x27d4eb2f);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0x165667b1);
  return hash ^ (hash >>> 16);
}

/** Folds text into 32 bits; different seeds give independent results. */
export function fold(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return mix(hash, text.length, seed) >>> 0;
}
