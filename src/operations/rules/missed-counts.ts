import { notes } from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { counted } from '../../words/spelling.js';

/** How many missed times stand on the lists of each configured realm. */
export type MissedOfRealm = {
  readonly realm: string;
  readonly times: number;
  /** The oldest of them that is listed; null where there is none. */
  readonly since: number | null;
  readonly rules: Awaited<ReturnType<typeof notes.scheduledTimes.missedCounts>>;
};

export async function missedOfRealms(app: App): Promise<MissedOfRealm[]> {
  return Promise.all(
    app.config.profiles.map(async (profile) => {
      const rules = await notes.scheduledTimes.missedCounts(app.ledger(profile));
      const times = rules.reduce((sum, one) => sum + one.times + one.older, 0);
      const since = rules.length === 0 ? null : Math.min(...rules.map(({ oldest }) => oldest));
      return { realm: profile.name, times, since, rules };
    }),
  );
}

/** For every face that tells what waits for a person. */
export async function missedNotes(app: App, realm?: string): Promise<string[]> {
  const realms = await missedOfRealms(app);
  return realms
    .filter((one) => one.times > 0 && (realm === undefined || one.realm === realm))
    .map(
      ({ realm: of, times }) =>
        `${counted(times, 'scheduled time')} of realm ${of} paid nobody, because nothing ran: \`almoner rules calendar\` lists them`,
    );
}
