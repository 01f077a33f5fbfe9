import { explainMember } from '../../operations/rules/explain.js';
import { type ListedRule, listRules } from '../../operations/rules/list.js';
import { type SyncedRule, syncRules } from '../../operations/rules/sync.js';
import { lastRunWords } from '../../rules/approvals.js';
import { spellMoment } from '../../rules/calendar.js';
import { faultLine } from '../../rules/fault.js';
import type { RunMeta } from '../../rules/run-record.js';
import { grouped } from '../../words/spelling.js';
import { storeCommand } from '../frame/open-app.js';
import { argument, flag, texts } from '../frame/options.js';
import { explanationDocument, explanationLines } from '../text/rules-text.js';

/** The rules themselves: their files, schedules and past decisions. */
export const list = storeCommand({
  name: 'rules list',
  description:
    'The rules of jobs/ and of the store: their schedules, next and last runs, and what became of them.',
  examples: ['almoner rules list'],
  run: (context) => async (app) => {
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
  },
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

export const sync = storeCommand({
  name: 'rules sync',
  description:
    'Makes the schedules in the store equal to the rule files and shows the difference. A new or changed rule waits for --approve; `almoner serve` runs what is approved.',
  options: {
    approve: texts('NAME', 'give this rule, as its file stands now, the go; `all` for every one that waits'),
    prune: flag('remove rules from the store whose file or schedule is gone'),
  },
  examples: [
    'almoner rules sync',
    'almoner rules sync --approve weekly-thanks',
    'almoner rules sync --prune',
  ],
  run: (context) => async (app) => {
    const { output, options, cwd } = context;
    const { approve, prune } = options;
    const { rules, faults } = await syncRules(app, { cwd, approve, prune });
    const waiting = rules.find(
      ({ approved, change }) => !approved && (change === 'new' || change === 'changed' || change === 'same'),
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
  },
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

export const explain = storeCommand({
  name: 'rules explain',
  description: 'Shows a past decision on a member from the facts that were frozen then. Asks no realm.',
  arguments: {
    RUN: argument('a run or plan: its id, a unique prefix, its batch, or `last`'),
    MEMBER: argument('a member id'),
  },
  examples: ['almoner rules explain last 119032211700000000'],
  run: (context) => async (app) => {
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
  },
});

function batchWords({ state, batch }: RunMeta): string {
  if (batch === null) return ', no batch was made of it';
  return state === 'cancelled' ? `, cancelled while its batch ${batch} was made` : `, batch ${batch}`;
}
