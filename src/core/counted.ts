/** Writes 1234567 as 1,234,567. Also takes the digit strings that the API uses for sums. */
export function grouped(value: number | bigint | string): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

/** Writes a count with its noun in the right number: `1 batch`, `2 batches`. */
export function counted(count: number | bigint | string, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${Number(count) === 1 ? one : many}`;
}
