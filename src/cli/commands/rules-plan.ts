import { batchOfRun } from '../../operations/rules/plan.js';
import { unfinishedRun } from '../../operations/rules/unfinished-runs.js';
import { defineCommand } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argument, flag, text } from '../frame/options.js';
import { openRuleSession, planWithProgress } from '../rules-session.js';
import { findingLines } from '../text/preview-text.js';
import { ruleDocument, ruleLines } from '../text/rules-text.js';

export const command = defineCommand({
  name: 'rules plan',
  description:
    'Shows who would get what by a rule, and why: reads the facts that the rule names, decides, and keeps the plan. No write call.',
  arguments: { FILE: argument('rule file, or the name of a rule in jobs/') },
  options: {
    at: text('DATE', 'plan for this time instead of now; a day means its beginning'),
    newAddress: flag('go on where the same realm id was paid under another address'),
  },
  examples: ['almoner rules plan jobs/weekly.yaml', 'almoner rules plan weekly-thanks --at 2026-11-16'],
  run: async (context) =>
    withApp(
      context,
      'rules',
      async (app) => {
        const { output, args, options } = context;
        const session = await openRuleSession(context, app, args.FILE, options.at);
        const { profile } = session.realm;
        const run = await planWithProgress(context, app, session);
        const batch = await batchOfRun(session.realm, run.meta, Date.now(), options.newAddress);
        const unfinished = (await unfinishedRun(session.realm, run.meta.rule, run.meta.period))?.run;
        const faults = batch?.plan.findings;
        const clean = run.meta.state === 'planned' && (faults?.faultCount ?? 0) === 0;
        const going =
          unfinished === undefined
            ? []
            : [`Run ${unfinished.id} of this period is not through; \`rules run\` sees to it first.`];
        output.print({
          json: ruleDocument(run, profile, batch, unfinished),
          text: [
            ...ruleLines(run, profile, batch, output.colours),
            ...(faults === undefined
              ? []
              : findingLines(faults.faults(), faults.faultCount, 'fault', null, output.colours)),
            ...going,
          ],
          next: clean
            ? run.meta.awards === 0
              ? `almoner rules try ${args.FILE} --member ID`
              : `almoner rules run --plan ${run.meta.id}`
            : 'mend the rule, its limits or its audience; then plan again',
        });
        return clean ? 0 : 3;
      },
      Number.POSITIVE_INFINITY,
    ),
});
