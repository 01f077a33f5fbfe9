import { formatRate } from '../../core/profile.js';
import { everyPace, paceOf, resetPace } from '../../operations/services/pace.js';
import type { Pace } from '../../operations/views/realm.js';
import { pickProfile } from '../../runtime/config/config.js';
import { utcTime } from '../../words/spelling.js';
import { storeCommand } from '../frame/open-app.js';
import { flag } from '../frame/options.js';

/** Shows what almoner learnt about each realm's rate, or resets it. */
export const pace = storeCommand({
  name: 'pace',
  description:
    'The rate of each realm: what is configured, what was learnt from its answers, by what and since when, and how long it asked to wait.',
  options: { reset: flag('forget what was learnt, and a hold, and go on at the configured rate') },
  examples: ['almoner pace', 'almoner pace --realm guild --reset'],
  run: (context) => async (app) => {
    const { output, options, global } = context;
    if (!options.reset) {
      // `pickProfile` refuses a name that is not configured.
      const named = global.realm === undefined ? null : pickProfile(app.config, global.realm);
      const realms = named === null ? await everyPace(app) : [await paceOf(app.ledger(named), named.rate)];
      const learnt = realms.filter(({ notes }) => notes.length > 0);
      output.print({
        json: { realms },
        text: realms.flatMap(lines),
        next: learnt.length === 0 ? 'almoner status' : `almoner pace --realm ${learnt[0]?.realm} --reset`,
      });
      return 0;
    }
    const profile = pickProfile(app.config, global.realm);
    const before = await resetPace(app, profile, null);
    const rate = formatRate(profile.rate);
    output.print({
      json: { realm: profile.name, forgotten: before },
      text: [
        ...before.notes.map((note) => `Forgotten: ${note}`),
        before.notes.length === 0
          ? `Nothing had been learnt of realm ${profile.name}; its rate is ${rate}.`
          : `Realm ${profile.name} is asked at ${rate} again. Runs and workers need no restart.`,
      ],
      next: `almoner pace --realm ${profile.name}`,
    });
    return 0;
  },
});

/** The rate of a realm in words: configured, learnt, and notes. */
function lines({ realm, configured, learnt, notes }: Pace): string[] {
  return [
    `Realm ${realm}: ${formatRate(configured)} configured${learnt === null ? '' : `, ${formatRate(learnt)} learnt from ${SOURCES[learnt.by]} since ${utcTime(Date.parse(learnt.since))}`}`,
    ...notes.map((note) => `  ${note}`),
  ];
}

const SOURCES = { headers: 'its answers’ headers', refusals: 'being refused' } as const;
