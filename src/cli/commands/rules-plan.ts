import { isMemberId, MEMBER_ID_EXPECTED } from '../../core/ids.js';
import { readAt } from '../../core/zones.js';
import { tryMember } from '../../operations/rules/explain.js';
import { openRule, profileOfRule } from '../../operations/rules/files.js';
import { batchOfRun, planRule } from '../../operations/rules/plan.js';
import { unfinishedRun } from '../../operations/rules/unfinished-runs.js';
import { secondsFor } from '../../planning/preview.js';
import type { Decision } from '../../rules/decision.js';
import { requestsAtMost } from '../../rules/read-candidates.js';
import type { PackedRule } from '../../rules/rule.js';
import { readEntries } from '../../rules/run-store.js';
import type { App, OpenRealm } from '../../runtime/app.js';
import { withStopSignals } from '../../runtime/stop-signals.js';
import { counted, roughly } from '../../words/spelling.js';
import type { CommandBase } from '../frame/command.js';
import { storeCommand } from '../frame/open-app.js';
import { NEW_ADDRESS, NEW_LEDGER, RULE_FILE, text, usage } from '../frame/options.js';
import { FactsProgress } from '../frame/progress.js';
import { findingLines } from '../text/preview-text.js';
import {
  type DecidedRun,
  explanationDocument,
  explanationLines,
  ruleDocument,
  ruleLines,
} from '../text/rules-text.js';

/** Plans a rule and shows all its decisions. It makes no batch. */
export const plan = storeCommand({
  name: 'rules plan',
  description:
    'Shows who would get what by a rule, and why: reads the facts that the rule names, decides, and keeps the plan. No write call.',
  arguments: RULE_FILE,
  options: {
    at: text('DATE', 'plan for this time instead of now; a day means its beginning'),
    ...NEW_ADDRESS,
    ...NEW_LEDGER,
  },
  examples: ['almoner rules plan jobs/weekly.yaml', 'almoner rules plan weekly-thanks --at 2026-11-16'],
  patienceMs: Number.POSITIVE_INFINITY,
  run: (context) => async (app) => {
    const { output, args, options } = context;
    const session = await openRuleSession(context, app, args.FILE, options.at);
    const { profile } = session.realm;
    const run = await planWithProgress(context, app, session);
    const batch = await batchOfRun(session.realm, run.meta, Date.now(), options);
    const unfinished = (await unfinishedRun(session.realm, run.meta.rule, run.meta.period))?.run;
    const faults = batch?.plan.findings;
    const clean = run.meta.state === 'planned' && (faults?.faultCount ?? 0) === 0;
    const going =
      unfinished === undefined
        ? []
        : [`Run ${unfinished.id} of this period has not finished; \`rules run\` resumes it first.`];
    output.print({
      json: ruleDocument(run, profile, batch, unfinished),
      text: [
        ...ruleLines(run, profile, batch, output.colours),
        ...(faults === undefined
          ? []
          : findingLines(
              { findings: faults.faults(), total: faults.faultCount, what: 'fault' },
              output.colours,
            )),
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
});

/** Shows what a rule would decide about one member. */
export const attempt = storeCommand({
  name: 'rules try',
  description:
    'Tries a rule on one member: reads the facts of that member, and shows the decision step by step. No write call.',
  arguments: RULE_FILE,
  options: {
    member: text('ID', 'the member; where it is not in the audience, its row is empty'),
    at: text('DATE', 'as if it were this time; a day means its beginning'),
  },
  examples: ['almoner rules try jobs/weekly.yaml --member 119032211700000000'],
  run: (context) => async (app) => {
    const { args, options, output } = context;
    if (options.member === undefined || !isMemberId(options.member))
      throw usage(
        `--member: expected a member id of ${MEMBER_ID_EXPECTED}, got ${JSON.stringify(options.member ?? '')}`,
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
  },
});

/** A plan with fewer requests ends before a progress line would help. */
const NOTED_FROM = 50;

/** The rule, its realm and the time of the run: everything that the commands on one rule share. */
type RuleSession = { readonly loaded: PackedRule; readonly realm: OpenRealm; readonly at: number };

/** Reads the rule file and opens its realm. */
export async function openRuleSession(
  context: CommandBase,
  app: App,
  named: string,
  at: string | undefined,
): Promise<RuleSession> {
  const loaded = await openRule(app.config, context.cwd, named);
  const profile = profileOfRule(app.config, loaded.rule, context.global.realm);
  return { loaded, realm: await app.realm(profile), at: timeOf(at, loaded) };
}

/** The time of the run: `--at`, or now. */
function timeOf(at: string | undefined, { rule }: PackedRule): number {
  if (at === undefined) return Date.now();
  const moment = readAt(at, rule.zone);
  if (moment === undefined)
    throw usage(`--at: expected a date such as 2026-11-16 or 2026-11-16T09:00, got ${JSON.stringify(at)}`);
  return moment;
}

/** Plans with a progress line. Ctrl-C ends the reading; the same command continues from the facts already read. */
export async function planWithProgress(
  context: CommandBase,
  app: App,
  { loaded, realm, at }: RuleSession,
): Promise<DecidedRun> {
  const { profile } = realm;
  const most = requestsAtMost(loaded.rule, loaded.audience, profile.wallets.chunk);
  if (most > NOTED_FROM)
    context.output.note(
      `Reading facts of ${counted(loaded.audience.members, 'member')}: at most ${counted(most, 'request')}, ${roughly(secondsFor(most, { ...profile, certainty: 'manual' }, 0) * 1000)} at the realm's pace.`,
    );
  const progress = new FactsProgress(context.stderr);
  try {
    const planned = await withStopSignals(
      (stop) =>
        planRule(app, realm, loaded, {
          at,
          scheduled: false,
          stop,
          onProgress: (made, total) => progress.showRead(made, total),
        }),
      () => context.output.note('\nStopping: what was read is kept…'),
    );
    const decisions: Decision[] = [];
    for await (const entries of readEntries(realm.ledger, planned.meta))
      decisions.push(...entries.map(({ decision }) => decision));
    return { ...planned, decisions };
  } finally {
    progress.end();
  }
}
