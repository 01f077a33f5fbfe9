/**
 * The 256 smallest digests of a set: a sample of it that is drawn the same way from every file, so that two
 * samples can be compared although neither file is kept. A batch's summary holds it for the looks-paid guard.
 */
export const SMALLEST_MAX = 256;

export class Smallest256 {
  /** Ascending, without repetitions. */
  readonly #digests: string[] = [];

  /** Takes a digest: text of one length, evenly spread. */
  add(digest: string): void {
    const kept = this.#digests;
    const last = kept[kept.length - 1];
    if (kept.length === SMALLEST_MAX && last !== undefined && digest >= last) return;
    let from = 0;
    let to = kept.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((kept[middle] ?? '') < digest) from = middle + 1;
      else to = middle;
    }
    if (kept[from] === digest) return;
    kept.splice(from, 0, digest);
    if (kept.length > SMALLEST_MAX) kept.pop();
  }

  list(): readonly string[] {
    return [...this.#digests];
  }
}

export type Overlap = {
  /** The estimated part of a's distinct rows that b holds too, from 0 to 1. */
  readonly share: number;
  /** How many of a's rows the estimate rests on; 0 tells nothing. */
  readonly sample: number;
};

/**
 * Estimates how much of `a` stands in `b` from their samples. Below the smaller of the two samples' ends both
 * are complete, so there every digest of `a` is known to be in `b` or not; a sample that is not full is its
 * whole set and ends nowhere. The error of the share is about 0.5/√sample. A small `a` taken out of a `b`
 * hundreds of times its size leaves hardly a sample: that is not "repeats most of an earlier batch" either.
 */
export function estimateOverlap(a: readonly string[], b: readonly string[]): Overlap {
  const end = smaller(endOf(a), endOf(b));
  const known = end === undefined ? a : a.filter((digest) => digest <= end);
  const inB = new Set(b);
  const shared = known.filter((digest) => inB.has(digest)).length;
  return { share: known.length === 0 ? 0 : shared / known.length, sample: known.length };
}

const LOOKS_PAID_SHARE = 0.8;
const LOOKS_PAID_ROWS_MIN = 20;
/** Fewer rows than this in the sample are chance. */
const LOOKS_PAID_SAMPLE_MIN = 10;

/** Whether a file of `rows` rows without references repeats most of an earlier batch. */
export function looksPaid(rows: number, file: readonly string[], earlier: readonly string[]): boolean {
  if (rows < LOOKS_PAID_ROWS_MIN) return false;
  const { share, sample } = estimateOverlap(file, earlier);
  return sample >= LOOKS_PAID_SAMPLE_MIN && share >= LOOKS_PAID_SHARE;
}

function endOf(sample: readonly string[]): string | undefined {
  return sample.length < SMALLEST_MAX ? undefined : sample[sample.length - 1];
}

function smaller(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}
