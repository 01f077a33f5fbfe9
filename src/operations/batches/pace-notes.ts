import type { RealmProfile } from '../../core/profile.js';
import { readPaceState } from '../../ledger/pace-state.js';
import { limitNotice, othersNotice } from '../../queue/pace-notices.js';
import type { App } from '../../runtime/app.js';

/** What a person should know of the pace of a realm, in sentences; empty when everything is as configured. */
export async function paceNotes(app: App, profile: RealmProfile): Promise<string[]> {
  const { learnt, others, holdMs } = await readPaceState(app.ledger(profile), profile.rate, Date.now());
  const notes: string[] = [];
  if (learnt !== null) notes.push(limitNotice(learnt.requests, learnt.windowMs, learnt.by === 'headers'));
  if (others > 0) notes.push(othersNotice(others));
  if (holdMs > 0)
    notes.push(`The realm asked for patience: nothing is sent for another ${Math.ceil(holdMs / 1000)} s.`);
  return notes.map((note) => `${profile.name}: ${note}`);
}

export async function allPaceNotes(app: App, realm: string | undefined): Promise<string[]> {
  const profiles = app.config.profiles.filter(({ name }) => realm === undefined || name === realm);
  return (await Promise.all(profiles.map((profile) => paceNotes(app, profile)))).flat();
}
