import { AlmonerError } from '../../core/errors/error.js';
import type { Span } from '../../core/spans.js';

/** Days, weeks and months of UTC, as history is shown by them. A day is YYYY-MM-DD, a week 2026-W10, a month YYYY-MM. */

/** Both ends belong to it. */
export type Days = { readonly from: string; readonly to: string };
/** What of a period lies within the days that were asked for. */
export type Period = Days & { readonly period: string };

const DAY_MS = 24 * 3600_000;
const DAY_LENGTH = 'YYYY-MM-DD'.length;
const MONTH_LENGTH = 'YYYY-MM'.length;
/** So many columns are read and drawn at most. */
const PERIODS_MAX = 750;
/** What is shown where nobody says since when. */
const USUAL: Readonly<Record<Span, number>> = { day: 14, week: 12, month: 12 };

const msOf = (day: string) => Date.parse(`${day}T00:00:00Z`);
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, DAY_LENGTH);

function daysAfter(day: string, days: number): string {
  return dayOf(msOf(day) + days * DAY_MS);
}

function dayCount({ from, to }: Days): number {
  return (msOf(to) - msOf(from)) / DAY_MS + 1;
}

/** As many days, right before these. */
export function daysBefore(days: Days): Days {
  return { from: daysAfter(days.from, -dayCount(days)), to: daysAfter(days.from, -1) };
}

export function monthDays(month: string): Days {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return { from: `${month}-01`, to: dayOf(Date.UTC(year, number, 0)) };
}

/** The days that were asked for; without them those of the last fortnight, of twelve weeks or of twelve months. */
export function daysAsked(
  by: Span,
  { since, until }: { readonly since: string | null; readonly until: string | null },
  now: number,
): Days {
  const to = until ?? dayOf(now);
  const from = since ?? usualStart(by, to);
  if (from > to) throw refused(`the first day ${from} is after the last one ${to}`);
  const count = periodsIn(by, { from, to }).length;
  if (count > PERIODS_MAX)
    throw refused(`${count} periods are more than the ${PERIODS_MAX} that are shown at once`);
  return { from, to };
}

function refused(why: string): AlmonerError {
  return new AlmonerError('ALM_CLI_USAGE', `Not these days: ${why}. Nothing was read.`);
}

function usualStart(by: Span, to: string): string {
  if (by === 'day') return daysAfter(to, 1 - USUAL.day);
  if (by === 'week') return daysAfter(mondayOf(to), -7 * (USUAL.week - 1));
  const [year = 0, month = 0] = to.split('-').map(Number);
  return dayOf(Date.UTC(year, month - USUAL.month, 1));
}

function mondayOf(day: string): string {
  const weekday = (new Date(msOf(day)).getUTCDay() + 6) % 7;
  return daysAfter(day, -weekday);
}

/** A week belongs to the year of its Thursday. */
function weekOf(day: string): string {
  const thursday = daysAfter(mondayOf(day), 3);
  const year = thursday.slice(0, 4);
  const number = Math.floor((msOf(thursday) - msOf(`${year}-01-01`)) / (7 * DAY_MS)) + 1;
  return `${year}-W${String(number).padStart(2, '0')}`;
}

/** The name of the period that a day is of. A month of folded days has no days any more, and stays one. */
export function periodOf(by: Span, dayOrMonth: string): string {
  if (by === 'month' || dayOrMonth.length === MONTH_LENGTH) return dayOrMonth.slice(0, MONTH_LENGTH);
  return by === 'day' ? dayOrMonth : weekOf(dayOrMonth);
}

/** All periods of these days, also those in which nothing happened. */
export function periodsIn(by: Span, { from, to }: Days): Period[] {
  const found: { period: string; from: string; to: string }[] = [];
  for (let ms = msOf(from); ms <= msOf(to); ms += DAY_MS) {
    const day = dayOf(ms);
    const period = periodOf(by, day);
    const last = found.at(-1);
    if (last?.period === period) last.to = day;
    else found.push({ period, from: day, to: day });
  }
  return found;
}
