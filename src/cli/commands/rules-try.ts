import { isMemberId } from '../../core/ids.js';
import { tryMember } from '../../operations/rules/explain.js';
import { defineCommand } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argument, text, usage } from '../frame/options.js';
import { openRuleSession } from '../rules-session.js';
import { explanationDocument, explanationLines } from '../text/rules-text.js';

export const command = defineCommand({
  name: 'rules try',
  description:
    'Tries a rule on one member: reads the facts of that member, and shows the decision step by step. No write call.',
  arguments: { FILE: argument('rule file, or the name of a rule in jobs/') },
  options: {
    member: text('ID', 'the member; where it is not in the audience, its row is empty'),
    at: text('DATE', 'as if it were this time; a day means its beginning'),
  },
  examples: ['almoner rules try jobs/weekly.yaml --member 119032211700000000'],
  run: async (context) =>
    withApp(context, 'rules', async (app) => {
      const { args, options, output } = context;
      if (options.member === undefined || !isMemberId(options.member))
        throw usage(
          `--member: expected a member id of 1 to 20 digits, got ${JSON.stringify(options.member ?? '')}`,
        );
      const session = await openRuleSession(context, app, args.FILE, options.at);
      const tried = await tryMember(session.realm, session.loaded, options.member, session.at);
      output.print({
        json: {
          rule: session.loaded.rule.name,
          realm: session.realm.profile.name,
          rehearsal: session.realm.profile.rehearsal,
          period: tried.period,
          inAudience: tried.inAudience,
          stops: tried.stops,
          ...explanationDocument(tried.explained),
        },
        text: [
          `Rule ${session.loaded.rule.name}, period ${tried.period}, member ${options.member}${tried.inAudience ? '' : ', who is NOT in the audience'}`,
          ...explanationLines(tried.explained),
          ...tried.stops.map(({ message }) => `  ${output.colours.red('stops the run')}: ${message}`),
          ...(session.loaded.rule.award.kind === 'share'
            ? ['  A share depends on the weights of all; the tokens shown are those of a member alone.']
            : []),
        ],
        next: `almoner rules plan ${args.FILE}`,
      });
      return tried.stops.length > 0 ? 3 : 0;
    }),
});
