import { momentOf, momentsOf, wallOf } from './zones.js';

/**
 * When a realm's members are not to be disturbed: the worker sends no order for the first time. It still resends and
 * reads back unknown orders, because an idempotency key may not outlive a weekend. Written as `22:00-07:00` for every
 * night, or `fri 18:00-mon 08:00` for once a week, in the realm's time zone.
 */
export type QuietHours = {
  readonly zone: string;
  /** The spans as the operator wrote them. */
  readonly texts: readonly string[];
  /**
   * Minutes of a week that begins on Monday. A span whose end comes before its beginning continues into the next
   * week.
   */
  readonly spans: readonly { readonly from: number; readonly to: number }[];
};

const DAYS: readonly string[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const MINUTE_MS = 60_000;
const DAY = 24 * 60;
const DAY_MS = DAY * MINUTE_MS;
const WEEK = 7 * DAY;
const SPAN = /^(?:([a-z]{3}) +)?(\d{2}):(\d{2}) *- *(?:([a-z]{3}) +)?(\d{2}):(\d{2})$/i;

export const QUIET_EXPECTED = 'quiet hours such as 22:00-07:00 or fri 18:00-mon 08:00';

/** Reads one span; a span without days becomes seven, one for each night. */
export function parseQuietSpan(text: string): { spans: QuietHours['spans'] } | { fault: string } {
  const match = SPAN.exec(text.trim());
  const [, fromDay, fromHour, fromMinute, toDay, toHour, toMinute] = match ?? [];
  const from = minuteOfDay(fromHour, fromMinute);
  const to = minuteOfDay(toHour, toMinute);
  const fault = { fault: `expected ${QUIET_EXPECTED}` };
  if (match === null || from === null || to === null) return fault;
  if (fromDay === undefined && toDay === undefined) {
    if (from === to) return { fault: `${fault.fault}; from and to are the same` };
    const length = (to - from + DAY) % DAY;
    return {
      spans: DAYS.map((_, day) => ({ from: day * DAY + from, to: (day * DAY + from + length) % WEEK })),
    };
  }
  const [first, last] = [fromDay, toDay].map((name) => DAYS.indexOf(name?.toLowerCase() ?? ''));
  if (first === undefined || last === undefined || first < 0 || last < 0) return fault;
  const span = { from: first * DAY + from, to: last * DAY + to };
  return span.from === span.to ? { fault: `${fault.fault}; from and to are the same` } : { spans: [span] };
}

function minuteOfDay(hour = '', minute = ''): number | null {
  const [hours, minutes] = [Number(hour), Number(minute)];
  return hours < 24 && minutes < 60 ? hours * 60 + minutes : null;
}

/** True if the quiet hours cover the whole week, so that no order would ever be sent. */
export function leavesNothing({ spans }: Pick<QuietHours, 'spans'>): boolean {
  const loud = Array.from(
    { length: WEEK },
    (_, minute) => !spans.some((span) => minutesLeft(span, minute) > 0),
  );
  return !loud.includes(true);
}

/** How many minutes of the span are left at this minute of the week; 0 if the span does not cover it. */
function minutesLeft({ from, to }: QuietHours['spans'][number], minute: number): number {
  const length = (to - from + WEEK) % WEEK;
  const into = (minute - from + WEEK) % WEEK;
  return into < length ? length - into : 0;
}

/** The moment when the current quiet hours end; null if the given moment is not quiet. */
export function quietUntil(quiet: QuietHours | null, moment: number): number | null {
  if (quiet === null) return null;
  let end = moment;
  // Spans may adjoin, so the loop continues at each end. It ends because together they leave part of the week free.
  for (;;) {
    const now = spansAround(quiet, end, NEAR_MS).find(({ from, to }) => from <= end && end < to);
    if (now === undefined) return end === moment ? null : end;
    end = now.to;
  }
}

/**
 * The spans that begin and end within `nearMs` of a moment, converted from wall time to moments. On days when the
 * clocks change, a wall shows some times twice and others never.
 */
function spansAround(
  { spans, zone }: QuietHours,
  moment: number,
  nearMs: number,
): { from: number; to: number }[] {
  const wall = wallOf(moment, zone);
  const weekday = new Date(wall).getUTCDay();
  const monday = Math.floor(wall / DAY_MS) * DAY_MS - ((weekday + 6) % 7) * DAY_MS;
  return spans.flatMap(({ from, to }) =>
    [-1, 0, 1].flatMap((week) => {
      const begins = monday + (week * WEEK + from) * MINUTE_MS;
      const ends = begins + ((to - from + WEEK) % WEEK) * MINUTE_MS;
      if (begins > wall + nearMs || ends < wall - nearMs) return [];
      // In the hour that occurs twice, it is quiet from the first beginning to the last end.
      return [{ from: momentOf(begins, zone), to: momentsOf(ends, zone).last }];
    }),
  );
}

/**
 * No zone has ever changed its clocks by more than a day. The limit matters because each span costs six calls to
 * Intl.
 */
const NEAR_MS = 2 * DAY_MS;

/** When work of this length ends, if it begins at `begin` and rests during quiet hours. */
export function endOfWork(quiet: QuietHours | null, begin: number, workMs: number): number {
  let [at, left] = [quietUntil(quiet, begin) ?? begin, workMs];
  if (quiet === null) return at + left;
  for (let spans = 0; spans < SPANS_MAX; spans++) {
    const rests = Math.min(
      ...spansAround(quiet, at, Number.POSITIVE_INFINITY).flatMap(({ from, to }) =>
        from >= at && to > from ? [from] : [],
      ),
    );
    if (at + left <= rests) return at + left;
    left -= rests - at;
    at = quietUntil(quiet, rests) ?? rests;
  }
  return at + left;
}

/** Bounds the loop. Work that takes more than some months gets no exact end. */
const SPANS_MAX = 300;
