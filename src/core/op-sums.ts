import { OPS, type Op } from './order.js';

/** Sums of absolute tokens per op. They are kept apart: fifty given and fifty taken are not a hundred paid. */
export type OpSums = Readonly<Record<Op, bigint>>;

export const NO_SUMS: OpSums = { credit: 0n, debit: 0n, transfer: 0n };

/** Builds the sums from a function of the op. */
export function opSums(of: (op: Op) => bigint): OpSums {
  return { credit: of('credit'), debit: of('debit'), transfer: of('transfer') };
}

/** The sums of a single row; a row without a valid order counts zero. */
export function sumOf(op: Op | null, tokens: number | bigint | null): OpSums {
  return op === null ? NO_SUMS : { ...NO_SUMS, [op]: BigInt(tokens ?? 0) };
}

export function plus(a: OpSums, b: OpSums): OpSums {
  return opSums((op) => a[op] + b[op]);
}

export function minus(a: OpSums, b: OpSums): OpSums {
  return opSums((op) => a[op] - b[op]);
}

/** All amounts together, whatever their direction. Caps and the total that a person types use it. */
export function absoluteOf(sums: OpSums): bigint {
  return OPS.reduce((sum, op) => sum + sums[op], 0n);
}

/** The words for the directions of points, as used in options and output. */
export const DIRECTION_WORDS: Readonly<Record<Op, 'given' | 'taken' | 'moved'>> = {
  credit: 'given',
  debit: 'taken',
  transfer: 'moved',
};

/**
 * Expected sums: one number for a file with a single direction, or one per direction. An omitted direction means
 * zero.
 */
export type ExpectedTokens =
  | string
  | { readonly [direction in (typeof DIRECTION_WORDS)[Op]]?: string | undefined };

/** Reads `1200` or `given=1200,taken=50`; undefined for any other text. */
export function parseExpectedTokens(text: string): ExpectedTokens | undefined {
  if (/^[0-9]+$/.test(text)) return text;
  const parts = text.split(',').map((part) => /^(given|taken|moved)=([0-9]+)$/.exec(part.trim()));
  const pairs = parts.flatMap((match) => (match === null ? [] : [[match[1], match[2]] as const]));
  const expected: ExpectedTokens = Object.fromEntries(pairs);
  return pairs.length === parts.length && Object.keys(expected).length === pairs.length
    ? expected
    : undefined;
}

/**
 * Compares the sums with the expected ones. Returns null if one number is expected but the file has several
 * directions.
 */
export function meetsTokens(expected: ExpectedTokens, sums: OpSums): boolean | null {
  if (typeof expected !== 'string')
    return OPS.every((op) => BigInt(expected[DIRECTION_WORDS[op]] ?? 0) === sums[op]);
  if (OPS.filter((op) => sums[op] > 0n).length > 1) return null;
  return BigInt(expected) === absoluteOf(sums);
}

/** Writes sums in the form that `--expect-tokens` reads: `given=1200,taken=50`. */
export function spellExpected(sums: OpSums): string {
  const used = OPS.filter((op) => sums[op] > 0n);
  return used.map((op) => `${DIRECTION_WORDS[op]}=${sums[op]}`).join(',') || '0';
}
