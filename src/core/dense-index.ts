const PAGE_BITS = 15;
const PAGE_ENTRIES = 1 << PAGE_BITS;
const IN_PAGE = PAGE_ENTRIES - 1;

type NumberArray = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** One number per entry, in pages of 32,768 entries. Growth adds a page and never copies the others. */
class PagedColumn {
  readonly #pages: NumberArray[] = [];
  readonly #page: (entries: number) => NumberArray;

  constructor(page: (entries: number) => NumberArray) {
    this.#page = page;
  }

  get(entry: number): number {
    return this.#pages[entry >>> PAGE_BITS]?.[entry & IN_PAGE] ?? 0;
  }

  set(entry: number, value: number): void {
    const at = entry >>> PAGE_BITS;
    while (this.#pages.length <= at) this.#pages.push(this.#page(PAGE_ENTRIES));
    const page = this.#pages[at];
    if (page !== undefined) page[entry & IN_PAGE] = value;
  }
}

/** Columns of one, two, four and eight bytes per entry. */
export const bytes = () => new PagedColumn((entries) => new Uint8Array(entries));
export const words16 = () => new PagedColumn((entries) => new Uint16Array(entries));
export const words32 = () => new PagedColumn((entries) => new Uint32Array(entries));
export const floats = () => new PagedColumn((entries) => new Float64Array(entries));
/**
 * Finds the number of an entry by the hash of its key: open addressing over Int32Arrays. The entries stay in pages of
 * typed arrays, so growth copies only the index. A Map of a million id strings to small objects took 142 MB.
 *
 * The first bits of the hash choose one of 256 small tables, and each table grows alone. A single table would block
 * the process for a tenth of a second when it grows at a million entries.
 */
export class DenseIndex {
  readonly #tables = Array.from({ length: TABLES }, newTable);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /**
   * Returns the entry under this hash that `same` accepts. If there is none, returns a new number, which equals the
   * size before the call. A table that grows asks `hashOf` for the hash of each of its entries.
   */
  find(hash: number, same: (entry: number) => boolean, hashOf: (entry: number) => number): number {
    const table = this.#tableOf(hash);
    const slot = slotOf(table.slots, hash, same);
    const known = (table.slots[slot] ?? 0) - 1;
    if (known !== -1) return known;
    // The table grows before the new entry is added, because the columns that `hashOf` reads do not hold it yet.
    const isFull = (table.used + 1) * 3 > table.slots.length * 2;
    if (isFull) table.slots = grown(table.slots, hashOf);
    table.slots[isFull ? slotOf(table.slots, hash, NONE) : slot] = this.#size + 1;
    table.used += 1;
    return this.#size++;
  }

  /** Returns the entry under this hash that `same` accepts, or -1. */
  seek(hash: number, same: (entry: number) => boolean): number {
    const { slots } = this.#tableOf(hash);
    return (slots[slotOf(slots, hash, same)] ?? 0) - 1;
  }

  #tableOf(hash: number): Table {
    const table = this.#tables[hash >>> (32 - TABLE_BITS)];
    if (table === undefined) throw new Error('a hash of more than 32 bits');
    return table;
  }
}

const TABLE_BITS = 8;
const TABLES = 1 << TABLE_BITS;
type Table = { slots: Int32Array; used: number };
const newTable = (): Table => ({ slots: new Int32Array(16), used: 0 });
const NONE = () => false;

/** The slot of the entry that `same` accepts, or the free slot where it belongs. */
function slotOf(slots: Int32Array, hash: number, same: (entry: number) => boolean): number {
  const mask = slots.length - 1;
  for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
    const entry = (slots[slot] ?? 0) - 1;
    if (entry === -1 || same(entry)) return slot;
  }
}

/** Doubles a table. It stays at most two thirds full, so probing stays short. */
function grown(old: Int32Array, hashOf: (entry: number) => number): Int32Array {
  const slots = new Int32Array(old.length * 2);
  for (const number of old) if (number !== 0) slots[slotOf(slots, hashOf(number - 1), NONE)] = number;
  return slots;
}

/** Mixes up to three 32-bit words into one hash. The words are digits of an id or parts of a digest. */
export function mix(a: number, b: number, c: number): number {
  let hash = Math.imul(a ^ Math.imul(b, 0x9e3779b1), 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash ^ Math.imul(c + 0x7f4a7c15, 0xc2b2ae35), 0x27d4eb2f);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0x165667b1);
  return hash ^ (hash >>> 16);
}
