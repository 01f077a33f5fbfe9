/** How numbers are spelled, the same in every browser's language: an id or a sum must read alike for all. */

/** 1234567 as 1,234,567; takes the API's sums, which are strings of digits. */
export function grouped(value: number | bigint | string): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** Digits of a total as people type it: 1,000 and 1 000 and 1.000 are all one thousand. */
export function typedDigits(text: string): string {
  return text.replaceAll(/[\s,.'’_]/g, '').replace(/^0+(?=\d)/, '');
}

export function addSums(sums: readonly (string | undefined)[]): string {
  return String(sums.reduce((total, sum) => total + BigInt(sum ?? 0), 0n));
}

export function percent(part: number, whole: number): string {
  if (whole <= 0) return '0 %';
  const share = (part / whole) * 100;
  // 99.97 % must not read as finished, nor 0.02 % as nothing.
  if (share > 99 && part < whole) return `${(Math.floor(share * 10) / 10).toFixed(1)} %`;
  if (share > 0 && share < 1) return `${Math.max(0.1, share).toFixed(1)} %`;
  return `${Math.round(share)} %`;
}

/** A rate in the unit that gives a readable number. */
export function paceWords(perSecond: number): string {
  if (perSecond >= 10) return `${grouped(Math.round(perSecond))}/s`;
  if (perSecond >= 1) return `${perSecond.toFixed(1)}/s`;
  const perMinute = perSecond * 60;
  return `${perMinute >= 10 ? Math.round(perMinute) : perMinute.toFixed(1)}/min`;
}

export function bytesWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
