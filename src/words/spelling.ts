import { grouped } from '../core/counted.js';
import { formatRate, type Rate } from '../core/profile.js';

export { counted, grouped } from '../core/counted.js';

/**
 * The spelling of numbers, times and rates. It does not use locales, so the language of the machine or browser has no
 * effect. An id or a sum must read the same for all people, and a report must have the same bytes everywhere.
 */

/** Rounds to one decimal; numbers from 100 on get none. */
export function trimmed(value: number): string {
  return value >= 100 || Number.isInteger(value) ? grouped(Math.round(value)) : value.toFixed(1);
}

/** A share in percent, rounded so that it never reads as 0 % or 100 % wrongly. */
export function percent(part: number, whole: number): string {
  if (whole <= 0) return '0 %';
  const share = (part / whole) * 100;
  // 99.97 % must not read as finished, and 0.02 % must not read as zero.
  if (share > 99 && part < whole) return `${(Math.floor(share * 10) / 10).toFixed(1)} %`;
  if (share > 0 && share < 1) return `${Math.max(0.1, share).toFixed(1)} %`;
  return `${Math.round(share)} %`;
}

export function bytesWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** An allowed rate, spelled as in the configuration, so that people see one unit everywhere. */
export function allowedWords(rate: Rate | null): string {
  return rate === null ? 'no limit' : formatRate(rate);
}

/** A measured rate in the unit of the allowed one. Without a limit, in the unit that gives a readable number. */
export function usedWords(perSecond: number, allowed: Rate | null): string {
  const { windowMs } = allowed ?? { windowMs: perSecond >= 1 ? 1_000 : 60_000 };
  const used = (perSecond * windowMs) / 1_000;
  const [, unit] = formatRate({ requests: 1, windowMs }).split('/');
  return `${used >= 10 || used === 0 ? grouped(Math.round(used)) : used.toFixed(1)}/${unit}`;
}

/** A duration in at most two units: `3 h 12 min`. */
export function duration(ms: number): string {
  if (ms > 0 && ms < 1) return 'under 1 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${Math.round(ms / 100) / 10} s`;
  const seconds = Math.round(ms / 1_000);
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  // Two units are precise enough for a reader.
  const shown = parts.slice(first, first + 2).filter(([amount]) => amount > 0);
  return shown.map(([amount, unit]) => `${amount} ${unit}`).join(' ');
}

/** An estimate. Less than a second needs no number. */
export function roughly(ms: number): string {
  return ms < 1_000 ? 'less than a second' : `about ${duration(ms)}`;
}

/** A time in a document for programs. */
export function isoTime(at: number): string;
export function isoTime(at: number | null): string | null;
export function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** A time as a person types it into a command. */
export function minuteTime(at: number): string {
  return isoTime(at).replace(/(:00)?\.000Z$/, 'Z');
}

/** A time in a report or on a terminal, whose readers may be in other zones. */
export function utcTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** The same without seconds. */
export function utcMinute(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

const two = (value: number) => String(value).padStart(2, '0');

/** A time of today on the reader's own clock. */
export function clockTime(at: Date): string {
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/**
 * A time on the reader's own clock. The date is added only if it is not today, because most of what the desk shows
 * just happened.
 */
export function dayAndClock(at: Date, now: Date): string {
  if (at.toDateString() === now.toDateString()) return clockTime(at);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clockTime(at)}`;
}

/** A pattern that is equal for messages that differ only in an id or an amount. */
export function messagePattern(message: string | null): string {
  return (message ?? '').slice(0, 300).replaceAll(/[0-9a-f-]*[0-9]{2}[0-9a-f-]*/gi, '#');
}
