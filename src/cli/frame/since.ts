import { usage } from './options.js';

/** Reads `--since`: a date, a time, or `30d` and `12h` ago. Null where it was not given. */
export function readSince(given: string | undefined, now: number): number | null {
  if (given === undefined) return null;
  const back = /^([0-9]{1,5})([dh])$/.exec(given);
  if (back !== null) return now - Number(back[1]) * UNIT_MS[back[2] === 'd' ? 'd' : 'h'];
  // A day alone is a day in UTC. A time without a zone is UTC too, like every printed time.
  const match = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})?)?$/.exec(given);
  const zoned = match?.[1] === undefined || match[3] !== undefined ? given : `${given}Z`;
  const at = match === null ? Number.NaN : Date.parse(zoned.replace(' ', 'T'));
  if (Number.isNaN(at))
    throw usage(`--since: expected a date such as 2026-05-01 or 30d, got ${JSON.stringify(given)}`);
  return at;
}

const UNIT_MS = { d: 86_400_000, h: 3_600_000 } as const;
