import { planFile } from '../../operations/pay/plan-file.js';
import { mergeJournals } from '../../operations/services/recover.js';
import { refuseUnsafeStore } from '../../operations/services/store-safety.js';
import { defineCommand } from '../frame/command.js';
import { confirmTotal } from '../frame/confirm.js';
import { withApp } from '../frame/open-app.js';
import { argument, wholeNumber } from '../frame/options.js';
import { payFile, showPlan } from '../pay.js';
import { planRequest, readBatchId, retyped, SEND_OPTIONS } from '../plan-options.js';

export const command = defineCommand({
  name: 'run',
  description:
    'Plans a CSV, asks, pays it off in this process and writes the report. Ctrl-C pauses it; the same command goes on.',
  arguments: { FILE: argument('CSV file, or - for standard input') },
  options: { ...SEND_OPTIONS, first: wholeNumber('N', 'pay N orders, report, and pause', { min: 1 }) },
  examples: [
    'almoner run airdrop.csv',
    'almoner run airdrop.csv --yes --expect-rows 1200 --expect-tokens 60000',
  ],
  run: async (context) =>
    withApp(
      context,
      'run',
      async (app) => {
        await refuseUnsafeStore(app);
        const { options, args } = context;
        const profile = await context.profile();
        const batchId = readBatchId(options.batchId);
        await mergeJournals(app, profile);
        const realm = await app.realm(profile);
        const planned = await planFile(realm, planRequest(args.FILE, options), Date.now());
        if (!showPlan(context, app, planned, profile)) return 3;
        if (planned.preview.payable > 0 && planned.plan.existing?.view == null)
          await confirmTotal(planned.preview.payableTokens, options.yes, args.FILE === '-');
        return payFile(context, app, realm, planned, {
          batchId,
          inOrder: options.inOrder,
          first: options.first ?? null,
          rerun: `almoner run ${retyped(args.FILE, options)}`,
        });
      },
      Number.POSITIVE_INFINITY,
    ),
});
