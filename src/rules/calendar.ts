import { wallOf } from '../core/zones.js';
import { PERIODS } from './schema.js';

/** The periods of rules, in the rule's time zone. */
const DAY_MS = 24 * 3_600_000;

export type Period = (typeof PERIODS)[number];

/**
 * Names the period of a moment in the rule's time zone: `2026-11-15`, `2026-W46`, `2026-11`, or `once`. The name is
 * part of every order's reference, so a member gets one award per period.
 */
export function periodName(period: Period, moment: number, zone: string): string {
  const day = new Date(wallOf(moment, zone)).toISOString().slice(0, 10);
  return { once: 'once', day, week: isoWeek(Date.parse(day)), month: day.slice(0, 7) }[period];
}

/** True if the period of a run had begun at that moment or earlier. */
export function hadBegun(run: { period: string; at: number; zone: string }, moment: number): boolean {
  return run.at <= moment || PERIODS.some((one) => periodName(one, moment, run.zone) === run.period);
}

/** The ISO 8601 week: it begins on Monday and belongs to the year that has most of its days. */
function isoWeek(day: number): string {
  const weekday = (new Date(day).getUTCDay() + 6) % 7;
  const thursday = day + (3 - weekday) * DAY_MS;
  const year = new Date(thursday).getUTCFullYear();
  const week = 1 + Math.floor((thursday - Date.UTC(year, 0, 1)) / (7 * DAY_MS));
  return `${String(year).padStart(4, '0')}-W${String(week).padStart(2, '0')}`;
}
