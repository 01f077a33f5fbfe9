import { OPS, type Op } from './order.js';

/** Sums of absolute tokens, apart by what the orders do: fifty given and fifty taken are not a hundred paid. */
export type OpSums = Readonly<Record<Op, bigint>>;

export const NO_SUMS: OpSums = { credit: 0n, debit: 0n, transfer: 0n };

export function opSums(of: (op: Op) => bigint): OpSums {
  return { credit: of('credit'), debit: of('debit'), transfer: of('transfer') };
}

/** Of one row; one that is no order does nothing. */
export function sumOf(op: Op | null, tokens: number | bigint | null): OpSums {
  return op === null ? NO_SUMS : { ...NO_SUMS, [op]: BigInt(tokens ?? 0) };
}

export function plus(a: OpSums, b: OpSums): OpSums {
  return opSums((op) => a[op] + b[op]);
}

export function minus(a: OpSums, b: OpSums): OpSums {
  return opSums((op) => a[op] - b[op]);
}

/** All amounts together, whatever they do: what caps, expectations and the typed total are about. */
export function absoluteOf(sums: OpSums): bigint {
  return OPS.reduce((sum, op) => sum + sums[op], 0n);
}
