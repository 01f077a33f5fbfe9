import { bytes, DenseIndex, floats, words32 } from '../core/dense-index.js';
import type { MemberId } from '../core/ids.js';
import { hashOfId, PackedIds, packId } from '../core/packed-ids.js';

const GAINS = 1;
const LOSES = 2;

/** A member's part in the file. */
export type MemberEffect = {
  readonly member: string;
  readonly rows: number;
  readonly firstLine: number;
  readonly net: bigint;
  readonly gains: boolean;
  readonly loses: boolean;
};

/**
 * Every member a file touches and what happens to it, exact, in 31 bytes and an index slot each. The id is not hashed
 * but packed: it comes out again as it went in, and two members are never taken for one.
 */
export class Members {
  readonly #index = new DenseIndex();
  readonly #ids = new PackedIds();
  readonly #rows = words32();
  readonly #firstLine = words32();
  readonly #signs = bytes();
  readonly #net = floats();
  /** Nets beyond 2^53; a file with many of them is above the largest batch and refused anyway. */
  readonly #largeNet = new Map<number, bigint>();
  readonly #hashOf = (entry: number) => hashOfId(this.#ids.get(entry));

  /** Whether the last touch made a member that only gained or only lost do both. */
  turned = false;

  get size(): number {
    return this.#index.size;
  }

  /** Counts one row that changes the member by `delta`; returns the member's entry. */
  touch(member: MemberId, delta: number, line: number): number {
    const id = packId(member);
    const size = this.#index.size;
    const entry = this.#index.find(hashOfId(id), (other) => this.#ids.isAt(other, id), this.#hashOf);
    if (entry === size) {
      this.#ids.set(entry, id);
      this.#firstLine.set(entry, line);
    }
    this.#rows.set(entry, this.#rows.get(entry) + 1);
    const signs = this.#signs.get(entry);
    const both = signs | (delta > 0 ? GAINS : LOSES);
    this.#signs.set(entry, both);
    this.turned = both !== signs && both === (GAINS | LOSES);
    this.#addNet(entry, delta);
    return entry;
  }

  rowsOf(entry: number): number {
    return this.#rows.get(entry);
  }

  firstLineOf(entry: number): number {
    return this.#firstLine.get(entry);
  }

  lengthOf(entry: number): number {
    return this.#ids.lengthOf(entry);
  }

  /** The last nine digits as a number: enough to see zeros after digit 15. */
  lowDigitsOf(entry: number): number {
    return this.#ids.get(entry).low;
  }

  idOf(entry: number): string {
    return this.#ids.idOf(entry);
  }

  effectOf(entry: number): MemberEffect {
    const signs = this.#signs.get(entry);
    return {
      member: this.idOf(entry),
      rows: this.rowsOf(entry),
      firstLine: this.firstLineOf(entry),
      net: this.#largeNet.get(entry) ?? BigInt(this.#net.get(entry)),
      gains: (signs & GAINS) !== 0,
      loses: (signs & LOSES) !== 0,
    };
  }

  #addNet(entry: number, delta: number): void {
    const large = this.#largeNet.get(entry);
    if (large !== undefined) {
      this.#largeNet.set(entry, large + BigInt(delta));
      return;
    }
    const before = this.#net.get(entry);
    if (Number.isSafeInteger(before + delta)) this.#net.set(entry, before + delta);
    else this.#largeNet.set(entry, BigInt(before) + BigInt(delta));
  }
}
