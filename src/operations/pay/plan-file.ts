import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { AlmonerError } from '../../core/errors/error.js';
import type { BatchId } from '../../core/ids.js';
import type { ExpectedTokens } from '../../core/op-sums.js';
import type { RealmProfile } from '../../core/profile.js';
import { spellMoment } from '../../core/zones.js';
import { keptPairText } from '../../csv/kept-columns.js';
import { ofFile } from '../../csv/row.js';
import { planning, type RealmLedger } from '../../ledger/index.js';
import { Findings, lineRanges, SCREEN_FINDINGS_MAX } from '../../planning/findings.js';
import type { Plan } from '../../planning/plan.js';
import { type Preview, previewPlan } from '../../planning/preview.js';
import { readTimes, type SetTimes } from '../../planning/set-times.js';
import type { App, RealmContext } from '../../runtime/app.js';
import { orderWords } from '../../words/amounts.js';
import { beginsWords } from '../../words/people.js';
import { allowedWords, counted, isoTime } from '../../words/spelling.js';
import { digitsOf } from '../batches/batch-status.js';
import { needPreparer } from '../people/who.js';
import { openForJudging } from '../services/recovery.js';
import { refuseUnsafeStore } from '../services/store-safety.js';
import type { FilePlan } from '../views/plan.js';
import { payingChosen } from './paying-in.js';
import { type GivenRows, type PlannedFile, planInput } from './plan-input.js';
import { noteExpectations, noteKept } from './plan-unseen.js';

/** Planning a file: what `plan`, `run`, `import`, `rehearse`, the desk's import page and the library have in common. */
export type PlanRequest = PlanChoices & (PlannedFile | GivenRows);

export type PlanChoices = {
  /** One of those that the profile lists; null: the profile's own. */
  readonly currency: string | null;
  readonly again: string | null;
  /** The id that a person gives the batch. */
  readonly batchId?: BatchId | null;
  readonly newAddress: boolean;
  readonly newLedger: boolean;
  readonly newRowsOnly: boolean;
  readonly skipInvalid: boolean;
  readonly expectRows: number | null;
  readonly expectTokens: ExpectedTokens | null;
  /** Nobody sees the plan before it is paid. */
  readonly unattended?: boolean;
  /** When it is to begin and to be over, as people write it. */
  readonly at?: string | null;
  readonly finishBy?: string | null;
};

export type Planned = { readonly plan: Plan; readonly preview: Preview };

export async function planFile(
  realm: RealmContext,
  request: PlanRequest,
  now: number,
  app: App,
): Promise<Planned> {
  const profile = payingChosen(realm.profile, request.currency);
  const times = readTimes(profile, request, now);
  const findings = new Findings();
  try {
    const plan = await planInput(request, {
      ...realm,
      profile,
      again: request.again,
      batchId: request.batchId ?? null,
      newAddress: request.newAddress,
      newLedger: request.newLedger,
      newRowsOnly: request.newRowsOnly,
      skipInvalid: request.skipInvalid,
      now,
      findings,
      app,
    });
    const preview = await previewPlan(plan, { profile, ledger: realm.ledger }, now, timesOf(plan, times));
    noteLate(plan, preview, profile);
    noteKept(plan, request.unattended ?? false);
    noteExpectations(plan, request);
    noteDayCap(plan, preview);
    await noteAccounts(plan, realm.ledger);
    return { plan, preview };
  } catch (error) {
    findings.close();
    throw error;
  }
}

/** A plan that is meant to be paid: what the store has forgotten is put back before anything is judged by it. */
export async function planToPay(app: App, profile: RealmProfile, request: PlanRequest) {
  await refuseUnsafeStore(app);
  await needPreparer(app, profile);
  await openForJudging(app, profile);
  const realm = await app.realm(profile);
  return { realm, planned: await planFile(realm, request, Date.now(), app) };
}

/** Orders that are a batch already begin when that does. */
function timesOf({ existing }: Plan, given: SetTimes): SetTimes {
  const gate = existing?.view?.gate ?? null;
  if (existing?.view == null) return given;
  const start = gate?.start ?? null;
  if (given.start === null || given.start.at === start?.at) return { ...given, start };
  throw new AlmonerError(
    'ALM_PLAN_TIME',
    `These orders are batch ${existing.id} already, which ${start === null ? 'has no time to wait for' : `begins at ${spellMoment(start.at, start.zone)}`}. Nothing was changed.`,
    {
      next: `Cancel it with \`almoner cancel ${existing.id}\` and import the rest for another time, or leave the time out.`,
    },
  );
}

function noteLate({ findings }: Plan, { endsAt, finishBy }: Preview, { timezone, rate }: RealmProfile): void {
  if (finishBy === null || endsAt <= finishBy) return;
  const message = `At the realm's pace (${allowedWords(rate)}) it would be over at about ${spellMoment(endsAt, timezone)}, after ${spellMoment(finishBy, timezone)}, by which it should be.`;
  findings.warning(ofFile('ALM_PLAN_LATE', message));
}

function noteDayCap(plan: Plan, { dayLeft, payableTokens }: Preview): void {
  if (dayLeft === null || payableTokens <= dayLeft) return;
  const message = `The amounts of the input, whatever they do, add up to ${payableTokens}, but only ${dayLeft} is left of today's cap: the batch will halt there and can be resumed tomorrow.`;
  plan.findings.warning(ofFile('ALM_PLAN_OVER_DAY_CAP', message));
}

/** A row under a rule's reference, or in place of one of its orders, is held to the limit of the rule's period. */
async function noteAccounts(
  { existing, referenceWrites, findings }: Plan,
  ledger: RealmLedger,
): Promise<void> {
  if (existing?.view != null) return;
  const ranges = referenceWrites.flatMap(({ accounts }) => accounts);
  for (const over of await planning.accounts.overLimits(ledger, ranges))
    findings.fault(
      ofFile('ALM_RULE_OVER_LIMIT', `The input cannot be paid: ${planning.accounts.overLimitText(over)}.`),
    );
}

/** Throws for a refused file; where it has more than a screen of faults, all of them are in a file. */
export function refuseFaults(plan: Plan, reportsFolder: string): void {
  const { findings } = plan;
  if (findings.faultCount === 0) return;
  const file = writeFaultsFile(plan, reportsFolder);
  const { code, message } = refusalOf({
    source: plan.source,
    faults: findings.faults(1),
    faultCount: findings.faultCount,
  });
  throw new AlmonerError(code, `${message}${file === null ? '' : ` All of them are in ${file}.`}`);
}

/** How a file with faults is refused: with the code of its only one where that is about the whole file. */
export function refusalOf({
  source,
  faults: [first],
  faultCount,
}: Pick<FilePlan, 'source' | 'faults' | 'faultCount'>) {
  if (faultCount === 1 && first?.line === 0)
    return { code: first.code, message: `${first.message} Nothing was enqueued and nothing was sent.` };
  const message = `${source} has ${counted(faultCount, 'fault')} and was refused as a whole. Nothing was enqueued and nothing was sent.`;
  return { code: 'ALM_PLAN_FAULTS' as const, message };
}

export function writeFaultsFile(
  plan: Pick<Plan, 'source' | 'findings'>,
  reportsFolder: string,
): string | null {
  if (plan.findings.faultCount <= SCREEN_FINDINGS_MAX) return null;
  mkdirSync(reportsFolder, { recursive: true, mode: 0o700 });
  const name = plan.source === '-' ? 'stdin' : basename(plan.source);
  const file = join(reportsFolder, `${name}.faults.csv`);
  plan.findings.writeFaults(file);
  return file;
}

function columnsView({ found }: Plan): FilePlan['columns'] {
  if (found === null) return null;
  const { headerLine, headerBelow, kept, columns } = found;
  return {
    headerLine,
    headerBelow,
    kept: kept && {
      who: kept.who,
      at: isoTime(kept.at),
      pairs: kept.pairs.map((pair) => ({ map: keptPairText(pair), effect: pair.effect })),
    },
    found: columns,
  };
}

/** A plan as `plan --json`, the desk's preview and the library's `plan` show it. */
export async function planView({ plan, preview }: Planned, profile: RealmProfile): Promise<FilePlan> {
  const { totals, findings, currency, source, fileSha256, table } = plan;
  const { dayLeft, duplicates, requests, seconds, amounts } = preview;
  const { name: realm, rehearsal, baseUrl, certainty, timezone } = profile;
  const { members, rows, orders, invalid } = totals;
  const past = await preview.past();
  return {
    ...{ realm, rehearsal, baseUrl, certainty, timezone, currency, source, fileSha256 },
    ...{ members, rows, orders, invalid, duplicates, requests, seconds },
    batch: plan.existing?.id ?? plan.batch,
    existing: plan.existing?.view != null,
    existingState: plan.existing?.view?.state ?? null,
    memberTable: table && { name: table.name, sha256: table.sha256 },
    columns: columnsView(plan),
    firstOrders: plan.firstOrders.map(orderWords),
    tokens: digitsOf(totals.tokens),
    duplicatesOf: plan.spent.batches,
    looksPaid: plan.repeats.batches.map(({ batch, rows: repeated }) => ({
      batch,
      rows: repeated.length,
      lines: lineRanges(repeated.map(([, line]) => line)),
    })),
    faults: findings.faults(1000),
    faultCount: findings.faultCount,
    warnings: findings.warnings(1000),
    startAt: isoTime(preview.start?.at ?? null),
    endsAt: isoTime(preview.endsAt),
    begins: beginsWords(preview.start),
    ends: spellMoment(preview.endsAt, timezone),
    quietHours: profile.quietHours?.texts ?? [],
    payable: {
      orders: preview.payable,
      tokens: String(preview.payableTokens),
      amounts: amounts && digitsOf(amounts),
    },
    books: { ...past, tokens: String(past.tokens), lastAt: isoTime(past.lastAt) },
    dayLeft: dayLeft === null ? null : String(dayLeft),
    netEffects: totals.busiest.map(({ member, rows: times, net }) => ({
      member,
      rows: times,
      net: String(net),
    })),
  };
}
