/** Awards by size, for a person who wants to see at a glance whether the amounts are what was meant. */
export type Bar = {
  readonly from: number;
  readonly to: number;
  readonly members: number;
  readonly tokens: bigint;
};

const BARS_MAX = 8;

/** Each amount its own bar where there are few; otherwise ranges of equal width with round bounds. */
export function histogram(amounts: readonly number[]): Bar[] {
  const distinct = [...new Set(amounts)].sort((a, b) => a - b);
  const bounds =
    distinct.length <= BARS_MAX ? distinct.map((amount) => ({ from: amount, to: amount })) : ranges(distinct);
  return bounds
    .map(({ from, to }) => {
      const within = amounts.filter((amount) => amount >= from && amount <= to);
      return {
        from,
        to,
        members: within.length,
        tokens: within.reduce((sum, amount) => sum + BigInt(amount), 0n),
      };
    })
    .filter(({ members }) => members > 0);
}

function ranges(distinct: readonly number[]): { from: number; to: number }[] {
  const largest = distinct.at(-1) ?? 0;
  const width = roundUp(largest / BARS_MAX);
  return Array.from({ length: Math.ceil(largest / width) }, (_, index) => ({
    from: index * width + 1,
    to: (index + 1) * width,
  }));
}

/** The next of 1, 2, 5, 10, 20, 50… */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? 10 * power;
}
