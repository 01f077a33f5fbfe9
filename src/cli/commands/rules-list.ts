import { type ListedRule, listRules } from '../../operations/rules/list.js';
import { lastRunWords } from '../../rules/approvals.js';
import { spellMoment } from '../../rules/zone.js';
import { grouped } from '../../words/spelling.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';

export const command = defineCommand({
  name: 'rules list',
  description:
    'The rules of jobs/ and of the store: their schedules, next and last runs, and what became of them.',
  arguments: {},
  options: {},
  examples: ['almoner rules list'],
  run: async (context) =>
    withApp<ExitStatus>(context, 'rules', async (app) => {
      const rules = await listRules(app, context.cwd);
      const waiting = rules.find(
        ({ state }) => state === 'unsynced' || state === 'waits' || state === 'changed',
      );
      context.output.print({
        json: {
          rules: rules.map((rule) => ({
            ...rule,
            next: rule.next === null ? null : new Date(rule.next).toISOString(),
          })),
        },
        text: rules.length === 0 ? 'There is no rule yet.' : rules.flatMap(ruleLines),
        next:
          waiting !== undefined
            ? `almoner rules sync --approve ${waiting.rule}`
            : rules.length === 0
              ? 'write one into jobs/; docs/rules.md shows how'
              : 'almoner rules plan FILE',
      });
      return 0;
    }),
});

const STATE_WORDS: Readonly<Record<ListedRule['state'], string>> = {
  manual: 'run by hand',
  approved: 'approved',
  waits: 'WAITS for a go',
  changed: 'CHANGED, waits for a go',
  unsynced: 'not synced yet',
  gone: 'its file or schedule is GONE',
  faulty: 'FAULTY',
};

function ruleLines(rule: ListedRule): string[] {
  const zone = rule.schedule?.timezone ?? 'UTC';
  const { lastScheduled, lastRun } = rule;
  return [
    `${rule.rule}  (${rule.file}${rule.realm === null ? '' : `, realm ${rule.realm}`}): ${STATE_WORDS[rule.state]}`,
    ...(rule.schedule === null
      ? []
      : [`  schedule  ${rule.schedule.cron}, ${zone}, missed: ${rule.schedule.missed}`]),
    ...(rule.next === null ? [] : [`  next      ${spellMoment(rule.next, zone)}`]),
    ...(lastScheduled === null
      ? []
      : [`  last      ${spellMoment(lastScheduled.at, zone)}: ${lastRunWords(lastScheduled)}`]),
    ...(lastRun === null
      ? []
      : [
          `  last run  ${lastRun.run}, ${lastRun.period}: ${grouped(lastRun.awards)} awards, ${grouped(BigInt(lastRun.tokens))} tokens, ${lastRun.batch === null ? lastRun.state : `batch ${lastRun.batch} ${lastRun.state}`}`,
        ]),
    ...rule.faults.map(({ line, column, message }) => `  ${line}:${column} ${message}`),
  ];
}
