import { AlmonerError } from '../core/errors/error.js';
import type { RealmProfile } from '../core/profile.js';
import { readAt, spellMoment, wallOf } from '../core/zones.js';
import type { planning } from '../ledger/index.js';

/** When a batch is to begin, and when it should be over, by the wall of the realm's zone. */
export type SetTimes = {
  readonly start: NonNullable<planning.Prepared['start']> | null;
  readonly finishBy: number | null;
};
export const NO_TIMES: SetTimes = { start: null, finishBy: null };

const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d$/;
const DAY_MS = 24 * 3_600_000;
/** A command takes a moment, and a minute is as exact as people write. */
const PAST_MS = 60_000;

export function readTimes(
  { timezone: zone, name }: Pick<RealmProfile, 'timezone' | 'name'>,
  given: { readonly at?: string | null; readonly finishBy?: string | null },
  now: number,
): SetTimes {
  const read = (text: string | null | undefined, option: string) => {
    if (text == null) return null;
    const moment = TIME_OF_DAY.test(text.trim())
      ? nextTimeOfDay(text.trim(), zone, now)
      : readAt(text, zone, now - PAST_MS);
    const refuse = (what: string) =>
      new AlmonerError('ALM_PLAN_TIME', `For ${option}: ${what}. Nothing was enqueued and nothing was sent.`);
    if (moment === undefined)
      throw refuse(
        `expected a time such as 18:00, 2026-11-20 18:00 (in ${zone}, the zone of realm ${name}) or 2026-11-20T18:00+01:00, got ${JSON.stringify(text)}`,
      );
    if (moment < now - PAST_MS) throw refuse(`${spellMoment(moment, zone)} is over`);
    if (moment > now + 366 * DAY_MS) throw refuse(`${spellMoment(moment, zone)} is more than a year away`);
    return moment;
  };
  const at = read(given.at, 'the time to begin (--at)');
  const finishBy = read(given.finishBy, 'the time to finish by (--finish-by)');
  if (at !== null && finishBy !== null && finishBy <= at)
    throw new AlmonerError(
      'ALM_PLAN_TIME',
      `For the time to finish by (--finish-by): ${spellMoment(finishBy, zone)} is not after ${spellMoment(at, zone)}, when it would begin. Nothing was enqueued and nothing was sent.`,
    );
  return { start: at === null ? null : { at, zone }, finishBy };
}

/**
 * Today, or tomorrow where that time of today is over. Days are counted on the wall's calendar: one of them has 23 hours,
 * and one 25, in which a time may come a second time.
 */
function nextTimeOfDay(text: string, zone: string, now: number): number | undefined {
  const wall = wallOf(now, zone);
  const on = (day: number) =>
    readAt(`${new Date(day).toISOString().slice(0, 10)} ${text}`, zone, now - PAST_MS);
  const today = on(wall);
  return today !== undefined && today < now - PAST_MS ? on(wall + DAY_MS) : today;
}
