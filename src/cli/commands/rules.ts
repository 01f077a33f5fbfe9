import { AlmonerError } from '../../core/errors/error.js';
import { spellMoment } from '../../core/zones.js';
import { explainMember } from '../../operations/rules/explain.js';
import { type ListedRule, listRules } from '../../operations/rules/list.js';
import { scheduleRow } from '../../operations/rules/standings.js';
import { type RuleStep, steerRule } from '../../operations/rules/steer-rule.js';
import { syncRules } from '../../operations/rules/sync.js';
import { faultLine } from '../../rules/fault.js';
import type { RunMeta } from '../../rules/run-record.js';
import { heldWords, type ScheduleHealth } from '../../rules/schedule-health.js';
import type { App } from '../../runtime/app.js';
import { NOT_BY_TWO } from '../../words/people.js';
import { counted, isoTime } from '../../words/spelling.js';
import type { CommandBase } from '../frame/command.js';
import { storeCommand } from '../frame/open-app.js';
import { argument, flag, needReason, optionalArgument, REASON, text, texts } from '../frame/options.js';
import type { Colours } from '../text/colours.js';
import { approvableLines, explanationDocument, explanationLines, syncedLine } from '../text/rules-text.js';

/** Lists the rules with their schedules, approvals and last runs. */
export const list = storeCommand({
  name: 'rules list',
  description:
    'The rules of jobs/ and of the store: their schedules, next and last runs, and what became of them. A named one is shown with what it pays, its next ten runs, and what changed since its approval.',
  arguments: { RULE: optionalArgument('the name of a rule, to see all of it') },
  examples: ['almoner rules list', 'almoner rules list weekly-thanks'],
  run: (context) => async (app) => {
    const { output, args, cwd } = context;
    const all = await listRules(app, cwd);
    const rules = all.filter(({ rule }) => args.RULE === undefined || rule === args.RULE);
    if (args.RULE !== undefined && rules.length === 0)
      throw new AlmonerError('ALM_RULE_NOT_FOUND', `No rule is called ${JSON.stringify(args.RULE)}.`);
    const waiting = rules.find(({ text: shown }) => shown !== null);
    output.print({
      json: { rules: rules.map(ruleDocument) },
      text:
        rules.length === 0
          ? 'There is no rule yet.'
          : rules.flatMap((rule) => [
              ...ruleLines(rule, output.colours),
              ...(args.RULE === undefined ? [] : approvableLines(rule, output.colours)),
            ]),
      next:
        waiting !== undefined
          ? `almoner rules sync --approve ${waiting.rule}`
          : rules.length === 0
            ? 'write one into jobs/; docs/reference/rules.md shows how'
            : 'almoner rules plan FILE',
    });
  },
});

function ruleDocument(rule: ListedRule) {
  const { next, nextRuns, approved, standing, text: shown } = rule;
  return {
    ...rule,
    next: isoTime(next),
    nextRuns: nextRuns.map((run) => ({ ...run, at: isoTime(run.at) })),
    approved: approved && { ...approved, at: isoTime(approved.at) },
    standing: standing && scheduleRow(standing),
    difference: shown?.difference ?? null,
  };
}

const STATE_WORDS: Readonly<Record<ListedRule['state'], string>> = {
  manual: 'run by hand',
  approved: 'approved',
  waits: 'WAITS for approval',
  changed: 'CHANGED, waits for approval',
  unsynced: 'not synced yet',
  gone: 'its file or schedule is GONE',
  faulty: 'FAULTY',
};

function ruleLines(rule: ListedRule, colours: Colours): string[] {
  const zone = rule.schedule?.timezone ?? 'UTC';
  const { standing, lastRun, approved } = rule;
  return [
    `${rule.rule}  (${rule.file}${rule.realm === null ? '' : `, realm ${rule.realm}`}): ${STATE_WORDS[rule.state]}${approved === null ? '' : ` by ${approved.who}`}`,
    ...(rule.schedule === null
      ? []
      : [`  schedule  ${rule.schedule.cron}, ${zone}, missed: ${rule.schedule.missed}`]),
    ...(rule.state === 'approved' && rule.text !== null ? [`  approval  ${NOT_BY_TWO}`] : []),
    ...(standing?.paused == null
      ? []
      : [`  PAUSED    ${heldWords(`since ${spellMoment(standing.paused.at, zone)}`, standing.paused)}`]),
    ...(standing?.skip == null
      ? []
      : [`  skipped   ${spellMoment(standing.skip.time, zone)}, ${heldWords('as said', standing.skip)}`]),
    ...(rule.next === null ? [] : [`  next      ${spellMoment(rule.next, zone)}`]),
    ...(standing === null || standing.outcome === 'none' ? [] : healthLines(standing, zone, colours)),
    ...(lastRun === null
      ? []
      : [
          `  last run  ${lastRun.run}, ${lastRun.period}: ${counted(lastRun.awards, 'award')}, ${counted(BigInt(lastRun.tokens), 'token')}, ${lastRun.batch === null ? lastRun.state : `batch ${lastRun.batch} ${lastRun.state}`}`,
        ]),
    ...rule.faults.map(({ line, column, message }) => `  ${line}:${column} ${message}`),
  ];
}

/** The outcome of a rule's last scheduled time. */
function healthLines(
  { at, outcome, message, next, isGood }: ScheduleHealth,
  zone: string,
  colours: Colours,
): string[] {
  const when = at === null ? '' : `${spellMoment(at, zone)}: `;
  return [
    `  last      ${when}${isGood ? outcome : colours.red(outcome)}: ${message}`,
    ...(isGood || next === null ? [] : [`            ${next}`]),
  ];
}

/** Makes the schedules in the store equal to the rule files, and approves rules with --approve. */
export const sync = storeCommand({
  name: 'rules sync',
  description:
    'Makes the schedules in the store equal to the rule files and shows the difference. A new or changed rule waits for --approve; `almoner serve` runs what is approved.',
  options: {
    approve: texts('NAME', 'approve this rule as its file is now; `all` for every rule that waits'),
    text: text(
      'HASH',
      'the beginning of the hash that you saw, for an approval that another person asked for',
    ),
    prune: flag('remove rules from the store whose file or schedule is gone'),
    ...REASON,
  },
  examples: [
    'almoner rules sync',
    'almoner rules sync --approve weekly-thanks',
    'almoner rules sync --prune',
  ],
  run: (context) => async (app) => {
    const { output, options, cwd } = context;
    const { approve, prune, reason: why } = options;
    await refuseUnseen(app, { approve, seen: options.text }, cwd, output);
    // Listed before the sync, so that the output shows the difference between the former text and the one approved
    // now.
    const listed = (await listRules(app, cwd)).filter(({ text: shown }) => shown !== null);
    const [only = '', ...others] = approve;
    const seen = others.length === 0 ? listed.find(({ rule }) => rule === only)?.text?.hash : undefined;
    const request = { cwd, approve, prune, why, ...(seen === undefined ? {} : { seen }) };
    const { rules, faults } = await syncRules(app, request);
    const waiting = rules.find(
      ({ approved, asked, change }) =>
        (!approved || asked !== null) && (change === 'new' || change === 'changed' || change === 'same'),
    );
    const gone = rules.some(({ change }) => change === 'gone');
    output.print({
      json: { rules, faults },
      text: [
        ...(rules.length === 0
          ? [`No rule ${faults.length > 0 ? 'that can be read ' : ''}has a schedule.`]
          : rules.flatMap((one) => [
              syncedLine(one),
              ...listed
                .filter(({ rule }) => rule === one.rule)
                .flatMap((rule) => approvableLines(rule, output.colours)),
            ])),
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

/**
 * Refuses an approval of a text that the person has not seen. A second person names the text's hash, since the file
 * may have changed after the request.
 */
async function refuseUnseen(
  app: App,
  { approve, seen }: { readonly approve: readonly string[]; readonly seen: string | undefined },
  cwd: string,
  output: CommandBase['output'],
): Promise<void> {
  const { person } = app;
  if (approve.length === 0 || person === null) return;
  for (const one of await listRules(app, cwd)) {
    const { rule, asked, text: shown } = one;
    if (asked === null || asked.who.toLowerCase() === person.name.toLowerCase()) continue;
    if (!approve.includes(rule) && !approve.includes('all')) continue;
    const hash = shown?.hash ?? '';
    if (seen !== undefined && seen.length >= 8 && hash.startsWith(seen)) continue;
    for (const line of approvableLines(one, output.colours)) output.line(line);
    throw new AlmonerError(
      'ALM_CLI_NOT_CONFIRMED',
      `${asked.who} asks for the approval of rule ${rule}. See above what it does; its text is ${hash.slice(0, 12)}. Nothing was approved.`,
      { next: `almoner rules sync --approve ${rule} --text ${hash.slice(0, 12)}` },
    );
  }
}

const STEP_WORDS: Readonly<
  Record<RuleStep, { readonly what: string; readonly next: (rule: string) => string }>
> = {
  pause: {
    what: 'Pauses the schedule of a rule: its times pass without a run until `rules resume`. An existing batch continues.',
    next: (rule) => `almoner rules resume ${rule}`,
  },
  resume: {
    what: 'Ends a pause, and a skip that has not come. almoner does not make up times that passed.',
    next: () => 'almoner rules list',
  },
  skip: {
    what: 'Lets the next time of a rule’s schedule pass without a run.',
    next: (rule) => `almoner rules resume ${rule} ends the skip`,
  },
  revoke: {
    what: 'Withdraws the approval of a rule: it does not run by itself until it is approved again. An existing batch continues.',
    next: (rule) => `almoner rules sync --approve ${rule}`,
  },
};

/** Makes the command of one step on a rule's schedule. */
const steering = (step: RuleStep) =>
  storeCommand({
    name: `rules ${step}`,
    description: STEP_WORDS[step].what,
    arguments: { RULE: argument('the name of a rule') },
    options: REASON,
    examples: [`almoner rules ${step} weekly-thanks --reason "…"`],
    run: (context) => async (app) => {
      const { args, options, output } = context;
      const why = step === 'pause' ? needReason(options.reason) : (options.reason?.trim() ?? null);
      const told = await steerRule(app, args.RULE, step, why);
      output.print({
        json: { rule: args.RULE, step, told },
        text: told,
        next: STEP_WORDS[step].next(args.RULE),
      });
    },
  });

export const pause = steering('pause');
export const resume = steering('resume');
export const skip = steering('skip');
export const revoke = steering('revoke');

/** Shows a past decision on a member, from the facts recorded at that time. */
export const explain = storeCommand({
  name: 'rules explain',
  description: 'Shows a past decision on a member, from the facts of that run. Asks no realm.',
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
