/** The amounts of a file: an estimate of their median and the largest few, whatever the number of rows. */
const LARGEST_KEPT = 5;
const SUB_BUCKETS = 32;

export class Amounts {
  /** 32 buckets for each power of two: exact up to 64, within 3 % beyond. */
  readonly #counts = new Uint32Array(54 * SUB_BUCKETS);
  readonly #float = new Float64Array(1);
  readonly #words = new Uint32Array(this.#float.buffer);
  readonly #largest: { tokens: number; line: number }[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Largest first. */
  get largest(): readonly { readonly tokens: number; readonly line: number }[] {
    return this.#largest;
  }

  add(tokens: number, line: number): void {
    this.#count++;
    const bucket = this.#bucketOf(tokens);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    const smallest = this.#largest[LARGEST_KEPT - 1];
    if (smallest !== undefined && tokens <= smallest.tokens) return;
    let at = this.#largest.length;
    while (at > 0 && (this.#largest[at - 1]?.tokens ?? 0) < tokens) at--;
    this.#largest.splice(at, 0, { tokens, line });
    if (this.#largest.length > LARGEST_KEPT) this.#largest.pop();
  }

  /** The lower end of the bucket that holds the median; 0 without amounts. */
  median(): number {
    let left = Math.ceil(this.#count / 2);
    for (let bucket = 0; bucket < this.#counts.length && left > 0; bucket++) {
      left -= this.#counts[bucket] ?? 0;
      if (left <= 0)
        return Math.floor(2 ** Math.floor(bucket / SUB_BUCKETS) * (1 + (bucket % SUB_BUCKETS) / SUB_BUCKETS));
    }
    return 0;
  }

  /** Exponent and the first five bits of the fraction, read from the number's own representation. */
  #bucketOf(tokens: number): number {
    this.#float[0] = tokens;
    return ((this.#words[1] ?? 0) >>> 15) - (1023 << 5);
  }
}
