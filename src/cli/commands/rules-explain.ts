import { explainMember } from '../../operations/rules/explain.js';
import type { RunMeta } from '../../rules/run-record.js';
import { spellMoment } from '../../rules/zone.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argument } from '../frame/options.js';
import { explanationDocument, explanationLines } from '../text/rules-text.js';

export const command = defineCommand({
  name: 'rules explain',
  description: 'Shows a past decision on a member from the facts that were frozen then. Asks no realm.',
  arguments: {
    RUN: argument('a run or plan: its id, a unique prefix, its batch, or `last`'),
    MEMBER: argument('a member id'),
  },
  options: {},
  examples: ['almoner rules explain last 119032211700000000'],
  run: async (context) =>
    withApp<ExitStatus>(context, 'rules', async (app) => {
      const { args, output } = context;
      const { meta, explained } = await explainMember(app, args.RUN, args.MEMBER, context.global.realm);
      output.print({
        json: {
          plan: meta.id,
          rule: meta.rule,
          period: meta.period,
          at: new Date(meta.at).toISOString(),
          state: meta.state,
          batch: meta.batch,
          ...explanationDocument(explained),
        },
        text: [
          `Rule ${meta.rule}, period ${meta.period}, ${spellMoment(meta.at, meta.zone)}, ${meta.op}; run ${meta.id}${batchWords(meta)}`,
          `Member ${explained.decision.member}, line ${explained.decision.line} of the audience`,
          ...explanationLines(explained),
        ],
        next: meta.batch === null ? null : `almoner history ${args.MEMBER}`,
      });
      return 0;
    }),
});

function batchWords({ state, batch }: RunMeta): string {
  if (batch === null) return ', no batch was made of it';
  return state === 'cancelled' ? `, cancelled while its batch ${batch} was made` : `, batch ${batch}`;
}
