import { AlmonerError } from '../../core/errors/error.js';
import { batchStatus } from '../../operations/batches/batch-status.js';
import type { Planned } from '../../operations/pay/plan-file.js';
import { openRule } from '../../operations/rules/files.js';
import { makeUp, refuseOtherPeriod } from '../../operations/rules/missed.js';
import { findRunOf } from '../../operations/rules/plan.js';
import { importRun, isEdited, payRun, usablePlan } from '../../operations/rules/run.js';
import { runToGoOnWith } from '../../operations/rules/unfinished-runs.js';
import { countWorkers } from '../../operations/services/run-workers.js';
import { refuseUnsafeStore } from '../../operations/services/store-safety.js';
import type { Imported } from '../../planning/store-plan.js';
import { periodName } from '../../rules/calendar.js';
import type { RunMeta } from '../../rules/run-record.js';
import type { App, OpenRealm } from '../../runtime/app.js';
import { counted } from '../../words/spelling.js';
import type { CommandBase } from '../frame/command.js';
import { confirmRisk, confirmTotal } from '../frame/confirm.js';
import { storeCommand } from '../frame/open-app.js';
import {
  FIRST,
  flag,
  NEW_ADDRESS,
  NEW_LEDGER,
  optionalArgument,
  text,
  usage,
  YES,
} from '../frame/options.js';
import { printPaid, whilePaying } from '../frame/while-paying.js';
import { batchLines, batchNext } from '../text/batch-text.js';
import { findingLines, refusedNext, toSendWords } from '../text/preview-text.js';
import { ruleDocument, ruleLines } from '../text/rules-text.js';
import { openRuleSession, planWithProgress } from './rules-plan.js';

/** The run to pay, from a fresh plan, an earlier plan or a run that was cut off. */
type Chosen = {
  readonly realm: OpenRealm;
  readonly run: RunMeta;
  readonly edited: boolean;
  /** The missed time that the run makes up; null for any other run. */
  readonly missed: number | null;
};

/** Makes a batch of a rule and pays it, or hands it to the workers with --import. */
export const run = storeCommand({
  name: 'rules run',
  description:
    'Makes a batch from a rule and pays it like `run`: plans (or takes exactly the plan named by --plan, without reading again), asks, pays, reports.',
  arguments: { FILE: optionalArgument('rule file, or the name of a rule in jobs/; not needed with --plan') },
  options: {
    plan: text('ID', 'make the batch of exactly this plan; reads nothing again'),
    at: text('DATE', 'run for this time instead of now; a day means its beginning'),
    missed: text('TIME', 'make up this missed time of the schedule, and take it off the list'),
    ...YES,
    import: flag('hand the batch to the workers instead of paying it here'),
    ...FIRST,
    ...NEW_ADDRESS,
    ...NEW_LEDGER,
  },
  examples: ['almoner rules run jobs/weekly.yaml', 'almoner rules run --plan 4k2m9q --yes'],
  patienceMs: Number.POSITIVE_INFINITY,
  run: (context) => async (app) => {
    const { options, args, output } = context;
    if (options.import && options.first !== undefined)
      throw usage('--first pays here; it does not go with --import.');
    if (options.missed !== undefined && (options.plan ?? options.at) !== undefined)
      throw usage('--missed names the time itself; it goes with neither --plan nor --at.');
    await refuseUnsafeStore(app);
    const chosen =
      options.plan === undefined
        ? await fromFile(context, app, args.FILE, options)
        : await fromPlan(context, app, options.plan, args.FILE);
    if (chosen === null) return 3;
    const { realm, run, edited } = chosen;
    const madeUp = (batch: string | null) => noteMadeUp(app, chosen, batch);
    const planned = await usablePlan(realm, run, Date.now(), options);
    if (planned === null) {
      await madeUp(null);
      printNothing(output, chosen);
      return 0;
    }
    if (planned.plan.findings.faultCount > 0) {
      printRefused(output, run, planned, args.FILE);
      return 3;
    }
    if (edited) output.note(EDITED);
    if (planned.preview.payable > 0 && planned.plan.existing === null) {
      output.line(`  To send    ${toSendWords(planned.plan.existing, planned.preview)}`);
      await confirmTotal(context, planned.preview, options.yes, false);
    }
    const told = { plan: run.id, rule: run.rule, period: run.period, edited };
    if (options.import) {
      const { ref, existing } = await importRun(app, realm, { run, planned });
      await madeUp(ref.id);
      await printImported(output, app, { ref, existing }, told);
      return 0;
    }
    const { first = null } = options;
    const status = await whilePaying(context, app, realm.profile.rate, (watch) =>
      payRun(app, realm, { run, planned }, { ...watch, first }),
    );
    await madeUp(status.batch);
    return printPaid(context, status, `almoner rules run --plan ${run.id}`, { json: told });
  },
});

/** Prints that the plan awards nobody, so that there is no batch. */
function printNothing(output: CommandBase['output'], { run, edited }: Chosen): void {
  output.print({
    json: { plan: run.id, rule: run.rule, period: run.period, batch: null, state: 'nothing', edited },
    text: 'Nobody gets anything: no batch was made, and nothing was sent.',
    next: `almoner rules explain ${run.id} MEMBER`,
  });
}

/** Prints the faults of a run's orders. */
function printRefused(
  output: CommandBase['output'],
  run: RunMeta,
  { plan: { findings } }: Planned,
  file: string | undefined,
): void {
  output.print({
    json: {
      plan: run.id,
      rule: run.rule,
      period: run.period,
      batch: null,
      faults: findings.faults(1000),
    },
    text: [
      ...findingLines(
        { findings: findings.faults(), total: findings.faultCount, what: 'fault' },
        output.colours,
      ),
      'The run was refused as a whole. Nothing was enqueued and nothing was sent.',
    ],
    next: findings.faults().some(({ line }) => line === 0)
      ? refusedNext(findings.faults())
      : run.state === 'run'
        ? `almoner resume ${run.batch}`
        : `almoner rules run ${file ?? run.file}`,
  });
}

/** Prints a batch that was handed to the workers. */
async function printImported(
  output: CommandBase['output'],
  app: App,
  { ref, existing }: Imported,
  told: object,
): Promise<void> {
  const [status, workers] = await Promise.all([
    batchStatus(ref, app.config, { existing }),
    countWorkers(app),
  ]);
  output.print({
    json: { ...status, ...told, workers },
    text: batchLines(status, output.colours),
    next: batchNext(status),
  });
}

const EDITED =
  'warning: the rule file was edited after this plan was made; the plan is paid as it was planned. [ALM_RULE_EDITED]';

/** Plans the rule afresh. A run of this period that was cut off has to be finished first, and is returned instead. */
async function fromFile(
  context: CommandBase,
  app: App,
  file: string | undefined,
  options: { readonly at?: string | undefined; readonly missed?: string | undefined; readonly yes: boolean },
): Promise<Chosen | null> {
  if (file === undefined) throw usage('Name a rule file, or a plan with --plan ID.');
  const session = await openRuleSession(context, app, file, options.missed ?? options.at);
  const { realm, loaded } = session;
  const { rule } = loaded;
  const missed = options.missed === undefined ? null : session.at;
  if (missed !== null) await refuseOtherPeriod(realm.ledger, rule, missed);
  const period = periodName(rule.period, session.at, rule.zone);
  const { open, givenUp } = await runToGoOnWith(realm, rule.name, period);
  if (givenUp !== null) context.output.note(givenUp);
  if (open !== undefined) {
    const { run } = open;
    const edited = run.ruleHash !== rule.hash;
    // The file now holds another text than the plan, so that a --yes for this file does not confirm the plan.
    if (edited && options.yes) throw otherText(run, file);
    if (edited) await confirmRisk(context, otherText(run, file), false);
    context.output.note(
      `Resuming run ${run.id} of this period, which has not finished. Nothing is read again.`,
    );
    return { realm, run, edited, missed };
  }
  const planned = await planWithProgress(context, app, session);
  if (planned.meta.state === 'planned') {
    for (const line of ruleLines(planned, realm.profile, null, context.output.colours))
      context.output.line(line);
    return { realm, run: planned.meta, edited: false, missed };
  }
  context.output.print({
    json: ruleDocument(planned, realm.profile, null, undefined),
    text: [
      ...ruleLines(planned, realm.profile, null, context.output.colours),
      'The run was stopped. Nothing was enqueued and nothing was sent.',
    ],
    next: 'mend the rule, its limits or its audience; then run it again',
  });
  return null;
}

/**
 * Takes the missed time off the list once the run is made. A process killed earlier leaves it there; the same command
 * then pays only the members who are missing.
 */
async function noteMadeUp(
  app: App,
  { realm, run: { rule, period, id }, missed: at }: Chosen,
  batch: string | null,
): Promise<void> {
  if (at !== null) await makeUp(app, realm.ledger, { rule, period, id, at }, batch);
}

/** The refusal to pay an unfinished run that was planned from another text of the rule. */
function otherText({ id, period, batch, awards, tokens }: RunMeta, file: string): AlmonerError {
  return new AlmonerError(
    'ALM_RULE_EDITED',
    `Run ${id} of ${period} has not finished, and it was planned from another text of the rule than ${file} holds: ${counted(awards, 'award')}, ${counted(BigInt(tokens), 'token')}. Nothing was done.`,
    {
      next: `\`almoner rules run --plan ${id}\` resumes it as it was planned; \`almoner cancel ${batch}\` gives it up, and the rule can be run as its file is now.`,
    },
  );
}

/** Finds the plan of `--plan ID`. It is paid as planned, without reading again. */
async function fromPlan(
  context: CommandBase,
  app: App,
  id: string,
  file: string | undefined,
): Promise<Chosen> {
  const found = await findRunOf(app, id, context.global.realm);
  if (found === undefined)
    throw new AlmonerError(
      'ALM_RULE_RUN_NOT_FOUND',
      `No plan is called ${JSON.stringify(id)}. Nothing was enqueued.`,
    );
  const { profile, run } = found;
  const realm = await app.realm(profile);
  const missed = null;
  if (file === undefined) return { realm, run, edited: await isEdited(run), missed };
  const { rule } = await openRule(app.config, context.cwd, file);
  if (rule.name === run.rule) return { realm, run, edited: rule.hash !== run.ruleHash, missed };
  throw usage(`Plan ${run.id} is one of the rule ${run.rule}, and ${file} is the rule ${rule.name}.`);
}
