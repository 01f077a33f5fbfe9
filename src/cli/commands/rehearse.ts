import { planFile } from '../../operations/pay/plan-file.js';
import { dropOldRehearsals, rehearsalProfile } from '../../operations/pay/rehearsals.js';
import { refuseUnsafeStore } from '../../operations/services/store-safety.js';
import { parseFaults } from '../../realm/server/faults.js';
import { defineCommand } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argument, flag, wholeNumber } from '../frame/options.js';
import { payFile, showPlan } from '../pay.js';
import { PLAN_OPTIONS, planRequest, retyped } from '../plan-options.js';

/** Every fault at once, at odds under which a run still ends within seconds. */
const BAD_DAY = [
  'latency:0.2:120',
  'storm:0.01:400',
  'error-before:0.05',
  'error-after:0.05',
  'hang-before:0.005:600',
  'hang-after:0.005:600',
  'reset-before:0.03',
  'reset-after:0.03',
  'truncate:0.03',
];

export const command = defineCommand({
  name: 'rehearse',
  description:
    'Runs the file on the embedded realm service with members made from it, at high pace, in books of its own. No real points move.',
  arguments: { FILE: argument('CSV file, or - for standard input') },
  options: {
    ...PLAN_OPTIONS,
    badDay: flag('switch faults on: errors, resets, hangs, 429 storms, truncated answers'),
    faultSeed: wholeNumber('N', 'seed of the faults: the same seed repeats them', { min: 0 }),
    inOrder: flag('send strictly one after the other, in file order'),
    first: wholeNumber('N', 'pay N orders, report, and pause', { min: 1 }),
  },
  examples: ['almoner rehearse jobs/airdrop.csv', 'almoner rehearse jobs/airdrop.csv --bad-day'],
  run: async (context) =>
    withApp(
      context,
      'rehearse',
      async (app) => {
        await refuseUnsafeStore(app);
        const { options, args } = context;
        const profile = rehearsalProfile(Date.now());
        const faults = options.badDay ? parseFaults(BAD_DAY, options.faultSeed ?? 1) : undefined;
        await dropOldRehearsals(app);
        const realm = await app.realm(profile, faults);
        const planned = await planFile(realm, planRequest(args.FILE, options), Date.now());
        if (!showPlan(context, app, planned, profile)) return 3;
        return payFile(context, app, realm, planned, {
          inOrder: options.inOrder,
          first: options.first ?? null,
          rerun: `almoner rehearse ${retyped(args.FILE, options)}`,
        });
      },
      Number.POSITIVE_INFINITY,
    ),
});
