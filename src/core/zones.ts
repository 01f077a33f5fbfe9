/**
 * Time zones. A moment is milliseconds since 1970 in UTC. A wall time is what a clock in the zone shows, stored as if
 * it were UTC. Intl knows every zone and its changes; this file never reads the clock itself.
 */
const formats = new Map<string, Intl.DateTimeFormat>();

/** True for the name of a time zone that Intl knows. */
export function isZone(name: string): boolean {
  try {
    formatOf(name);
    // Newer engines accept offsets such as +02:00. They have no daylight-saving time, so they are refused.
    return !/^[+-]/.test(name);
  } catch {
    return false;
  }
}

/** Keeps one formatter per zone, because creating one is slow. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US-u-ca-iso8601', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(zone, made);
  return made;
}

/** The wall time of a moment in a zone. */
export function wallOf(moment: number, zone: string): number {
  const parts = new Map<string, number>();
  for (const { type, value } of formatOf(zone).formatToParts(moment)) parts.set(type, Number(value));
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const subSecond = ((moment % 1000) + 1000) % 1000;
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second')) + subSecond;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * The moment at which the zone's clock shows a time. For an hour that occurs twice it is the first one; for a time
 * that is skipped it is the moment of the change. So every wall time has exactly one moment, also on days when the
 * clocks change.
 */
export function momentOf(wall: number, zone: string): number {
  return momentsOf(wall, zone).first;
}

/** Both moments of a wall time that occurs twice; on all other days the same moment twice. */
export function momentsOf(wall: number, zone: string): { readonly first: number; readonly last: number } {
  const before = offsetAt(wall - DAY_MS, zone);
  const after = offsetAt(wall + DAY_MS, zone);
  const candidates = [wall - before, wall - after].sort((a, b) => a - b);
  const exact = candidates.filter((moment) => wallOf(moment, zone) === wall);
  const [first = changeBetween(wall - Math.max(before, after), wall - Math.min(before, after), zone)] = exact;
  return { first, last: exact.at(-1) ?? first };
}

function offsetAt(moment: number, zone: string): number {
  return wallOf(moment, zone) - moment;
}

/** The first moment with the later offset: it stands for a wall time that is skipped. */
function changeBetween(from: number, to: number, zone: string): number {
  let [low, high] = [from, to];
  const offset = offsetAt(high, zone);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle, zone) === offset) high = middle;
    else low = middle;
  }
  return high;
}

/** Writes a moment as wall time with its zone, for people. */
export function spellMoment(moment: number, zone: string): string {
  return `${new Date(wallOf(moment, zone)).toISOString().slice(0, 16).replace('T', ' ')} ${zone}`;
}

const WRITTEN =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(Z|[+-]\d{2}:\d{2})?)?$/i;

/**
 * Reads the time of `--at`: a day (its beginning), or a day and a time as in RFC 3339. Without an offset it is wall
 * time in the zone. If that wall time occurs twice, the result is the first moment not before `since`. Undefined for
 * other text, and for a day that does not exist.
 */
export function readAt(text: string, zone: string, since = Number.NEGATIVE_INFINITY): number | undefined {
  const match = WRITTEN.exec(text.trim());
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const offset = match[8]?.toUpperCase();
  const isDay =
    new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10) === text.trim().slice(0, 10);
  // RFC 3339 allows a leap second. It counts as the first moment of the next minute, because clocks do not show it.
  const secondMax = offset === undefined ? 59 : 60;
  if (!isDay || hour > 23 || minute > 59 || second > secondMax) return undefined;
  const fraction = Math.floor(Number(`0.${match[7] ?? 0}`) * 1000);
  const wall = Date.UTC(year, month - 1, day, hour, minute, second, fraction);
  if (offset === undefined) {
    const { first, last } = momentsOf(wall, zone);
    return first < since ? last : first;
  }
  const sign = offset.startsWith('-') ? -1 : 1;
  const [hours = 0, minutes = 0] = offset === 'Z' ? [] : offset.slice(1).split(':').map(Number);
  if (hours > 23 || minutes > 59) return undefined;
  return wall - sign * (hours * 60 + minutes) * 60_000;
}
