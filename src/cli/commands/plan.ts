import { checkMembers } from '../../operations/pay/check-members.js';
import { planFile, writeFaultsFile } from '../../operations/pay/plan-file.js';
import type { Plan } from '../../planning/plan.js';
import { defineCommand } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argument, flag } from '../frame/options.js';
import { PLAN_OPTIONS, planRequest, retyped } from '../plan-options.js';
import { unsentNext } from '../text/batch-text.js';
import { findingLines, planDocument, planLines, refusedNext } from '../text/preview-text.js';

export const command = defineCommand({
  name: 'plan',
  description:
    'Checks a CSV and shows what it would do: rows, sums, faults, time needed. Makes no write call.',
  arguments: { FILE: argument('CSV file, or - for standard input') },
  options: {
    ...PLAN_OPTIONS,
    check: flag('also read every member at the realm’s pace: not found, balance too small'),
  },
  examples: ['almoner plan jobs/airdrop.csv', 'almoner plan airdrop.csv --check --map tokens=Punkte'],
  run: async (context) =>
    withApp(context, 'plan', async (app) => {
      const profile = await context.profile();
      const request = planRequest(context.args.FILE, context.options);
      const realm = await app.realm(profile);
      const planned = await planFile(realm, request, Date.now());
      const { findings } = planned.plan;
      if (context.options.check && findings.faultCount === 0)
        await checkMembers(realm, planned.plan, (line) => context.output.note(line));
      const faultsFile = writeFaultsFile(planned.plan, app.config.reportsFolder);
      const { colours } = context.output;
      const clean = findings.faultCount === 0;
      context.output.print({
        json: planDocument(planned, profile, faultsFile),
        text: [
          ...planLines(planned, profile, app.store.address, colours),
          ...findingLines(findings.warnings(), findings.warningCount, 'warning', null, colours),
          ...findingLines(findings.faults(), findings.faultCount, 'fault', faultsFile, colours),
          clean
            ? 'The plan is clean. Nothing was sent.'
            : 'The file is refused as a whole. Nothing was enqueued and nothing was sent.',
        ],
        next: clean
          ? cleanNext(retyped(context.args.FILE, context.options), planned.plan)
          : refusedNext(findings.faults()),
      });
      findings.close();
      return clean ? 0 : 3;
    }),
});

function cleanNext(file: string, { existing }: Plan): string {
  if (existing?.view?.state === 'cancelled')
    return unsentNext({ ...existing.view.manifest, archived: existing.view.archived }, null);
  if (existing?.view?.state === 'done') return `almoner status ${existing.id}`;
  return `almoner rehearse ${file}, then almoner run ${file}`;
}
