import { momentOf } from './zone.js';

const WRITTEN = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?(Z|[+-]\d{2}:\d{2})?)?$/;

/**
 * Reads the time of `--at`: a day, which means its beginning, or a day and a time; by the wall of the rule's
 * zone unless an offset is written. Undefined where it is neither, or a day that does not exist.
 */
export function readAt(text: string, zone: string): number | undefined {
  const match = WRITTEN.exec(text.trim());
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const wall = Date.UTC(year, month - 1, day, hour, minute, second);
  if (
    new Date(wall).toISOString().slice(0, 10) !== text.trim().slice(0, 10) ||
    hour > 23 ||
    minute > 59 ||
    second > 59
  )
    return undefined;
  const offset = match[7];
  if (offset === undefined) return momentOf(wall, zone);
  const sign = offset.startsWith('-') ? -1 : 1;
  const [hours = 0, minutes = 0] = offset === 'Z' ? [] : offset.slice(1).split(':').map(Number);
  return wall - sign * (hours * 60 + minutes) * 60_000;
}
