/** Counts with their nouns, for every sentence that has one: "1 batches" is nobody's English. */

/** 1234567 as 1,234,567; sums of the API are strings of digits. */
export function grouped(value: number | bigint | string): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

export function counted(count: number | bigint | string, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${Number(count) === 1 ? one : many}`;
}
