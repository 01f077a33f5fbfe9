/** Sums and lists as the auditor compares them (verify.ts, verify-batch.ts). */

/** The UTC day of a moment. */
export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

export function add(sums: Map<string, bigint>, name: string, tokens: number | bigint): void {
  sums.set(name, (sums.get(name) ?? 0n) + BigInt(tokens));
}

export function nonZero(sums: ReadonlyMap<string, bigint>): Map<string, string> {
  return new Map([...sums].filter(([, sum]) => sum !== 0n).map(([name, sum]) => [name, String(sum)]));
}

export function accountsIn(counters: Readonly<Record<string, string>>): Map<string, string> {
  return new Map(Object.entries(counters).filter(([name, sum]) => name.startsWith('a:') && sum !== '0'));
}

export function sameEntries(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}

const SHOWN_MAX = 10;

/** The first ones: a list of a million differences helps no reader. */
export function shown(entries: ReadonlyMap<string, string>): string {
  const first = JSON.stringify(Object.fromEntries([...entries].slice(0, SHOWN_MAX)));
  return entries.size > SHOWN_MAX ? `${first} and ${entries.size - SHOWN_MAX} more` : first;
}
