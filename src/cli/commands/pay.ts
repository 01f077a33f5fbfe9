import type { ExitStatus } from '../../core/errors/entry.js';
import type { RealmProfile } from '../../core/profile.js';
import { rehearsalProfile } from '../../operations/batches/batch-realm.js';
import { batchStatus } from '../../operations/batches/batch-status.js';
import { checkMembers } from '../../operations/pay/check-members.js';
import { payingChosen } from '../../operations/pay/paying-in.js';
import {
  type Planned,
  planFile,
  planToPay,
  planView,
  writeFaultsFile,
} from '../../operations/pay/plan-file.js';
import { dropOldRehearsals } from '../../operations/pay/rehearsals.js';
import { type PayRequest, payPlan, type Watch } from '../../operations/pay/run-batch.js';
import { importBatch } from '../../operations/pay/store-batch.js';
import { countWorkers } from '../../operations/services/run-workers.js';
import { refuseUnsafeStore } from '../../operations/services/store-safety.js';
import type { BatchStatus } from '../../operations/views/batch.js';
import type { Plan } from '../../planning/plan.js';
import { parseFaults } from '../../realm/server/faults.js';
import type { App, OpenRealm } from '../../runtime/app.js';
import type { CommandBase, CommandContext } from '../frame/command.js';
import { confirmTotal } from '../frame/confirm.js';
import { storeCommand } from '../frame/open-app.js';
import { argument, FIRST, flag, wholeNumber } from '../frame/options.js';
import {
  PLAN_OPTIONS,
  planRequest,
  readBatchId,
  retyped,
  SEND_OPTIONS,
  TIME_OPTIONS,
} from '../frame/plan-options.js';
import { printPaid, whilePaying } from '../frame/while-paying.js';
import { batchLines, batchNext, unsentNext } from '../text/batch-text.js';
import { findingLines, planLines, refusedNext } from '../text/preview-text.js';

/** The argument of the commands that pay from a file: `plan`, `run`, `rehearse` and `import`. */
const FILE = { FILE: argument('CSV file, or - for standard input') } as const;

/** Checks a CSV and shows what it would do. It makes no write call. */
export const plan = storeCommand({
  name: 'plan',
  description:
    'Checks a CSV and shows what it would do: rows, sums, faults, time needed. Makes no write call.',
  arguments: FILE,
  options: {
    ...PLAN_OPTIONS,
    ...TIME_OPTIONS,
    check: flag('also read every member at the realm’s pace: not found, balance too small'),
  },
  examples: ['almoner plan jobs/airdrop.csv', 'almoner plan airdrop.csv --check --map tokens=Punkte'],
  run: (context) => async (app) => {
    const { args, options, output } = context;
    const profile = await context.profile();
    const request = planRequest(context, options);
    const planned = await planFile(app.realmContext(profile), request, Date.now(), app);
    const { findings } = planned.plan;
    if (options.check && findings.faultCount === 0)
      await checkMembers(await app.realm(profile), planned.plan, (read, of) => {
        if (read % 100 === 0) output.note(`checked ${read} of ${of} members`);
      });
    const clean = findings.faultCount === 0;
    const { faultsFile, lines } = refusal(context, app, planned);
    output.print({
      json: { ...(await planView(planned, profile)), faultsFile },
      text: [
        ...(await previewLines(context, app, planned, profile)),
        ...(clean ? ['The plan is clean. Nothing was sent.'] : lines),
      ],
      next: clean ? cleanNext(retyped(args.FILE, options), planned.plan) : refusedNext(findings.faults()),
    });
    findings.close();
    return clean ? 0 : 3;
  },
});

/** The next step after a clean plan. It depends on a batch that the file made before. */
function cleanNext(file: string, { existing }: Plan): string {
  if (existing?.view?.state === 'cancelled')
    return unsentNext({ ...existing.view.manifest, archived: existing.view.archived }, null);
  if (existing?.view?.state === 'done') return `almoner status ${existing.id}`;
  return `almoner rehearse ${file}, then almoner run ${file}`;
}

/** Plans, asks and pays a CSV in this process, and writes the report. */
export const run = storeCommand({
  name: 'run',
  description:
    'Plans a CSV, asks, pays it in this process and writes the report. Ctrl-C pauses it; the same command resumes it.',
  arguments: FILE,
  options: { ...SEND_OPTIONS, ...FIRST },
  examples: [
    'almoner run airdrop.csv',
    'almoner run airdrop.csv --yes --expect-rows 1200 --expect-tokens 60000',
  ],
  patienceMs: Number.POSITIVE_INFINITY,
  run: (context) => async (app) => {
    const { options, args } = context;
    const confirmed = await confirmedPlan(context, app);
    if (confirmed === null) return 3;
    return payFile(context, app, confirmed, {
      batchId: confirmed.batchId,
      inOrder: options.inOrder,
      first: options.first ?? null,
      rerun: `almoner run ${retyped(args.FILE, options)}`,
    });
  },
});

/** Plans a CSV, asks, and enqueues the batch for the workers. */
export const importFile = storeCommand({
  name: 'import',
  description: 'Plans a CSV, asks, and hands the batch to the workers.',
  arguments: FILE,
  options: { ...SEND_OPTIONS, ...TIME_OPTIONS },
  examples: [
    'almoner import airdrop.csv --yes',
    'almoner import airdrop.csv --at "2026-11-20 18:00" --finish-by 23:00',
  ],
  run: (context) => async (app) => {
    const { options, output } = context;
    const confirmed = await confirmedPlan(context, app);
    if (confirmed === null) return 3;
    const { realm, planned, batchId } = confirmed;
    const begunAt = Date.now();
    const { inOrder } = options;
    const { ref, existing } = await importBatch(app, realm, planned, { batchId, inOrder });
    const [status, workers] = await Promise.all([
      batchStatus(ref, app.config, { existing }),
      countWorkers(app),
    ]);
    output.print({
      json: { ...status, workers },
      text: [...existingLines(status, begunAt, planned), ...batchLines(status, output.colours)],
      next: batchNext(status),
    });
    return 0;
  },
});

/** The faults of `--bad-day`: every kind at once, with odds that still let a run end within seconds. */
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

/** Pays a CSV on the embedded realm, in a ledger of its own. */
export const rehearse = storeCommand({
  name: 'rehearse',
  description:
    'Pays the file on the embedded realm with members made from it, at a high rate, in a ledger of its own. No real points move.',
  arguments: FILE,
  options: {
    ...PLAN_OPTIONS,
    badDay: flag('switch faults on: errors, resets, hangs, 429 storms, truncated answers'),
    faultSeed: wholeNumber('N', 'seed of the faults: the same seed repeats them', { min: 0 }),
    inOrder: flag('send strictly one after the other, in file order'),
    ...FIRST,
  },
  examples: ['almoner rehearse jobs/airdrop.csv', 'almoner rehearse jobs/airdrop.csv --bad-day'],
  patienceMs: Number.POSITIVE_INFINITY,
  run: (context) => async (app) => {
    await refuseUnsafeStore(app);
    const { options, args } = context;
    const configured = await context.profile().catch(() => null);
    const currency =
      configured === null
        ? (options.currency ?? null)
        : payingChosen(configured, options.currency ?? null).currency;
    const profile = rehearsalProfile(Date.now(), currency);
    const faults = options.badDay ? parseFaults(BAD_DAY, options.faultSeed ?? 1) : undefined;
    await dropOldRehearsals(app);
    const realm = await app.realm(profile, faults);
    const columnsOf = configured === null ? null : app.realmContext(configured).ledger;
    const planned = await planFile(realm, { ...planRequest(context, options), columnsOf }, Date.now(), app);
    if (!(await showPlan(context, app, planned, profile))) return 3;
    return payFile(
      context,
      app,
      { realm, planned },
      {
        inOrder: options.inOrder,
        first: options.first ?? null,
        rerun: `almoner rehearse ${retyped(args.FILE, options)}`,
      },
    );
  },
});

/** Plans the file, shows the plan and asks for the total. Returns null where the file is refused. */
async function confirmedPlan(context: CommandContext<typeof FILE, typeof SEND_OPTIONS>, app: App) {
  const { options, args } = context;
  const profile = await context.profile();
  const batchId = readBatchId(options.batchId);
  const { realm, planned } = await planToPay(app, profile, {
    ...planRequest(context, options),
    batchId,
  });
  if (!(await showPlan(context, app, planned, profile))) return null;
  if (planned.preview.payable > 0 && planned.plan.existing?.view == null)
    await confirmTotal(context, planned.preview, options.yes, args.FILE === '-');
  return { realm, planned, batchId };
}

/** Shows a plan before anything is sent. A plan with faults ends here and is the command's JSON document. */
async function showPlan(
  context: CommandBase,
  app: App,
  planned: Planned,
  profile: RealmProfile,
): Promise<boolean> {
  const { findings } = planned.plan;
  const { output } = context;
  for (const line of await previewLines(context, app, planned, profile)) output.line(line);
  if (findings.faultCount === 0) return true;
  const { faultsFile, lines } = refusal(context, app, planned);
  output.print({
    json: { ...(await planView(planned, profile)), faultsFile },
    text: lines,
    next: refusedNext(findings.faults()),
  });
  return false;
}

/** The preview with its warnings. */
async function previewLines(
  { output }: CommandBase,
  app: App,
  planned: Planned,
  profile: RealmProfile,
): Promise<string[]> {
  const { findings } = planned.plan;
  return [
    ...planLines(
      planned,
      profile,
      { at: app.store.address, past: await planned.preview.past() },
      output.colours,
    ),
    ...findingLines(
      { findings: findings.warnings(), total: findings.warningCount, what: 'warning' },
      output.colours,
    ),
  ];
}

/** The lines about a refused file. A list of faults longer than a screen goes to a file of its own. */
function refusal({ output }: CommandBase, { config }: App, { plan }: Planned) {
  const faultsFile = writeFaultsFile(plan, config.reportsFolder);
  const { findings } = plan;
  const lines = [
    ...findingLines(
      { findings: findings.faults(), total: findings.faultCount, what: 'fault', file: faultsFile },
      output.colours,
    ),
    'The file is refused as a whole. Nothing was enqueued and nothing was sent.',
  ];
  return { faultsFile, lines };
}

/** Pays a planned file with a progress line and prints the result. */
async function payFile(
  context: CommandBase,
  app: App,
  { realm, planned }: { readonly realm: OpenRealm; readonly planned: Planned },
  { rerun, ...wish }: Omit<PayRequest, keyof Watch> & { readonly rerun: string },
): Promise<ExitStatus> {
  const begunAt = Date.now();
  const status = await whilePaying(context, app, realm.profile.rate, (watch) =>
    payPlan(app, realm, planned, { ...wish, ...watch }),
  );
  return printPaid(context, status, rerun, { lines: existingLines(status, begunAt, planned) });
}

/** Says whether this command sent anything for a file that was a batch already. */
function existingLines(status: BatchStatus, begunAt: number, { plan }: Planned): string[] {
  const { existing, batch, state, finishedAt, requests } = status;
  if (!existing) return [];
  const isOver = finishedAt !== null && Date.parse(finishedAt) < begunAt;
  const before = plan.existing?.view?.requests ?? null;
  const isIdle = before === requests && (state === 'halted' || state === 'paused');
  const became =
    state === 'cancelled'
      ? 'It was cancelled. Nothing was sent. Its paid orders stay paid.'
      : isOver
        ? 'It was over before. Nothing was sent, and nobody is paid twice.'
        : state === 'planned'
          ? 'It is waiting as before. Nobody is paid twice.'
          : isIdle
            ? `It is ${state}; nothing was sent.`
            : 'almoner resumed it. Nobody is paid twice.';
  return [`This file is batch ${batch}. ${became}`];
}
