import { mix, words16, words32 } from './dense-index.js';
import { isRecordedMemberId, type MemberId } from './ids.js';

/** A member id of up to 20 digits as three numbers. */
export type PackedId = { readonly low: number; readonly middle: number; readonly top: number };

/**
 * Packs nine digits into each word, and adds the length so that leading zeros count. Two different ids never pack
 * alike.
 */
export function packId(id: MemberId): PackedId {
  const end = id.length;
  return {
    low: digits(id, Math.max(0, end - 9), end),
    middle: digits(id, Math.max(0, end - 18), Math.max(0, end - 9)),
    top: digits(id, 0, Math.max(0, end - 18)) * 32 + end,
  };
}

export function hashOfId({ low, middle, top }: PackedId): number {
  return mix(low, middle, top);
}

/** An exact member id for each entry, in ten bytes. An entry that was never set has length 0. */
export class PackedIds {
  readonly #low = words32();
  readonly #middle = words32();
  readonly #top = words16();

  set(entry: number, { low, middle, top }: PackedId): void {
    this.#low.set(entry, low);
    this.#middle.set(entry, middle);
    this.#top.set(entry, top);
  }

  get(entry: number): PackedId {
    return { low: this.#low.get(entry), middle: this.#middle.get(entry), top: this.#top.get(entry) };
  }

  isAt(entry: number, { low, middle, top }: PackedId): boolean {
    return this.#low.get(entry) === low && this.#middle.get(entry) === middle && this.#top.get(entry) === top;
  }

  lengthOf(entry: number): number {
    return this.#top.get(entry) % 32;
  }

  idOf(entry: number): MemberId {
    const { low, middle, top } = this.get(entry);
    const all = `${Math.floor(top / 32)}`.padStart(2, '0') + pad9(middle) + pad9(low);
    const id = all.slice(-this.lengthOf(entry));
    if (!isRecordedMemberId(id)) throw new RangeError('no member id was set here');
    return id;
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
