import type { Rate, RealmProfile } from '../../core/profile.js';
import { type RealmLedger, sending } from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { holdNotice, limitNotice, othersNotice } from '../../words/pace.js';
import { isoTime } from '../../words/spelling.js';
import { record } from '../people/audit.js';
import type { Pace } from '../views/realm.js';

/** The pace of one realm: the configured rate, and what the realm's answers have taught. */
export async function paceOf(ledger: RealmLedger, configured: Rate | null): Promise<Pace> {
  const { learnt, others, used, hold } = await sending.pace.state(ledger, configured);
  return {
    realm: ledger.realm.name,
    configured,
    learnt: learnt && {
      requests: learnt.requests,
      windowMs: learnt.windowMs,
      by: learnt.by,
      since: isoTime(learnt.sinceMs),
    },
    others,
    used,
    holdUntil: isoTime(hold?.untilMs ?? null),
    notes: [
      ...(learnt === null ? [] : [limitNotice(learnt, learnt.by, configured)]),
      ...(others > 0 ? [othersNotice(others)] : []),
      ...(hold === null ? [] : [holdNotice(hold.untilMs)]),
    ],
  };
}

export function everyPace(app: App): Promise<Pace[]> {
  return Promise.all(app.config.profiles.map((profile) => paceOf(app.ledger(profile), profile.rate)));
}

/** What a person should know of the pace of the realm that is named, or of all, each sentence with its realm. */
export async function allPaceNotes(app: App, realm: string | undefined): Promise<string[]> {
  const paces = (await everyPace(app)).filter((pace) => realm === undefined || pace.realm === realm);
  return paces.flatMap(({ realm, notes }) => notes.map((note) => `${realm}: ${note}`));
}

/** Begins anew at the configured rate. Answers with what was forgotten. */
export async function resetPace(app: App, profile: RealmProfile, why: string | null): Promise<Pace> {
  const ledger = app.ledger(profile);
  const before = await paceOf(ledger, profile.rate);
  await sending.pace.forget(ledger, profile.rate);
  await record(app, { what: `forgot what was learnt of the pace of realm ${profile.name}`, why });
  if (before.notes.length > 0)
    app.logger.warn(
      { realm: profile.name, forgotten: before.notes },
      'what was learnt of the pace is forgotten',
    );
  return before;
}
