import { type SyncedRule, syncRules } from '../../operations/rules/sync.js';
import { faultLine } from '../../rules/fault.js';
import { defineCommand } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { flag, texts } from '../frame/options.js';

export const command = defineCommand({
  name: 'rules sync',
  description:
    'Makes the schedules in the store equal to the rule files and shows the difference. A new or changed rule waits for --approve; `almoner serve` runs what is approved.',
  arguments: {},
  options: {
    approve: texts('NAME', 'give this rule, as its file stands now, the go; `all` for every one that waits'),
    prune: flag('remove rules from the store whose file or schedule is gone'),
  },
  examples: [
    'almoner rules sync',
    'almoner rules sync --approve weekly-thanks',
    'almoner rules sync --prune',
  ],
  run: async (context) =>
    withApp(context, 'rules', async (app) => {
      const { output, options, cwd } = context;
      const { approve, prune } = options;
      const { rules, faults } = await syncRules(app, { cwd, approve, prune });
      const waiting = rules.find(
        ({ approved, change }) =>
          !approved && (change === 'new' || change === 'changed' || change === 'same'),
      );
      const gone = rules.some(({ change }) => change === 'gone');
      output.print({
        json: { rules, faults },
        text: [
          ...(rules.length === 0 ? ['No rule has a schedule.'] : rules.map(syncedLine)),
          ...faults.map((fault) => `${output.colours.red('fault')}: ${faultLine(fault)}`),
          ...(faults.length > 0 ? ['Faulty rules were left as they were; they do not run.'] : []),
        ],
        next:
          faults.length > 0
            ? 'mend the faulty rules; then sync again'
            : waiting !== undefined
              ? `look at it with almoner rules plan ${waiting.rule}, then almoner rules sync --approve ${waiting.rule}`
              : gone
                ? 'almoner rules sync --prune removes what is gone'
                : 'almoner rules list; almoner serve runs the schedules',
      });
      return faults.length > 0 ? 3 : 0;
    }),
});

function syncedLine({ rule, realm, change, approved, approvedNow, file }: SyncedRule): string {
  const mark = { new: '+', changed: '~', same: '=', gone: '-', removed: '-', 'other-realm': ' ' }[change];
  const words = {
    new: 'new',
    changed: 'changed',
    same: 'unchanged',
    gone: 'its file or schedule is gone; it does not run',
    removed: 'removed',
    'other-realm': 'for a realm that is not configured here; left alone',
  }[change];
  const go =
    change === 'gone' || change === 'removed' || change === 'other-realm'
      ? ''
      : approvedNow
        ? ', approved now'
        : approved
          ? ', approved'
          : ', WAITS for a go';
  return `${mark} ${rule} (${file}, realm ${realm}): ${words}${go}`;
}
