import type { Rate } from '../core/profile.js';

/** How numbers, times and rates are spelled for people. UTC everywhere: a report travels between zones. */

export function isoTime(at: number): string;
export function isoTime(at: number | null): string | null;
export function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

export function clockTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** 1234567 as 1,234,567. By hand, so that the machine's language cannot change a report's bytes. */
export function grouped(value: number | bigint): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

export function counted(count: number | bigint, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${BigInt(count) === 1n ? one : many}`;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${trimmed(ms / 1_000)} s`;
  const seconds = Math.round(ms / 1_000);
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  // Two units are all anybody reads.
  const shown = parts.slice(first, first + 2).filter(([amount]) => amount > 0);
  return shown.map(([amount, unit]) => `${amount} ${unit}`).join(' ');
}

export function perMinute(rate: Rate): number {
  return (rate.requests * 60_000) / rate.windowMs;
}

export function rateWords(rate: Rate): string {
  if (rate.windowMs === 60_000) return `${grouped(rate.requests)} a minute`;
  if (rate.windowMs === 1_000) return `${grouped(rate.requests)} a second`;
  return `${grouped(rate.requests)} in ${duration(rate.windowMs)}`;
}

/** One decimal where it says something. */
export function trimmed(value: number): string {
  return value >= 100 || Number.isInteger(value) ? grouped(Math.round(value)) : value.toFixed(1);
}
