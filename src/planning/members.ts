import { bytes, DenseIndex, floats, mix, words16, words32 } from '../core/dense-index.js';
import type { MemberId } from '../core/ids.js';

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
 * Every member a file touches and what happens to it, exact, in 31 bytes and an index slot each. The id is
 * not hashed but packed: nine digits to a word, and its length, so that leading zeros count. It comes out
 * again as it went in, and two members are never taken for one.
 */
export class Members {
  readonly #index = new DenseIndex();
  readonly #low = words32();
  readonly #middle = words32();
  readonly #top = words16();
  readonly #rows = words32();
  readonly #firstLine = words32();
  readonly #signs = bytes();
  readonly #net = floats();
  /** Nets beyond 2^53; a file with many of them is above the largest batch and refused anyway. */
  readonly #largeNet = new Map<number, bigint>();
  readonly #hashOf = (entry: number) =>
    mix(this.#low.get(entry), this.#middle.get(entry), this.#top.get(entry));

  /** Whether the last touch made a member that only gained or only lost do both. */
  turned = false;

  get size(): number {
    return this.#index.size;
  }

  /** Counts one row that changes the member by `delta`; returns the member's entry. */
  touch(member: MemberId, delta: number, line: number): number {
    const end = member.length;
    const low = digits(member, Math.max(0, end - 9), end);
    const middle = digits(member, Math.max(0, end - 18), Math.max(0, end - 9));
    const top = digits(member, 0, Math.max(0, end - 18)) * 32 + end;
    const size = this.#index.size;
    const entry = this.#index.find(
      mix(low, middle, top),
      (other) =>
        this.#low.get(other) === low && this.#middle.get(other) === middle && this.#top.get(other) === top,
      this.#hashOf,
    );
    if (entry === size) {
      this.#low.set(entry, low);
      this.#middle.set(entry, middle);
      this.#top.set(entry, top);
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
    return this.#top.get(entry) % 32;
  }

  /** The last nine digits as a number: enough to see zeros after digit 15. */
  lowDigitsOf(entry: number): number {
    return this.#low.get(entry);
  }

  startsWithZero(entry: number): boolean {
    const length = this.lengthOf(entry);
    if (length > 18) return Math.floor(this.#top.get(entry) / 32) < 10 ** (length - 19);
    const first = length > 9 ? this.#middle.get(entry) : this.#low.get(entry);
    return length > 1 && first < 10 ** (length - (length > 9 ? 10 : 1));
  }

  idOf(entry: number): string {
    const length = this.lengthOf(entry);
    const top = Math.floor(this.#top.get(entry) / 32);
    const all = `${top}`.padStart(2, '0') + pad9(this.#middle.get(entry)) + pad9(this.#low.get(entry));
    return all.slice(-length);
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

function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) value = value * 10 + text.charCodeAt(at) - 48;
  return value;
}

function pad9(value: number): string {
  return `${value}`.padStart(9, '0');
}
