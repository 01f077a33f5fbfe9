import { createHash } from 'node:crypto';
import { isAlmonerError } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';
import { newNonce, registerRealm } from '../../ledger/index.js';
import { shortId } from '../../planning/paid-before/identity.js';
import { planRows } from '../../planning/plan.js';
import { previewPlan } from '../../planning/preview.js';
import { AWARD_SHEET, awardRows, runSource } from '../../rules/awards.js';
import { hadBegun } from '../../rules/calendar.js';
import { type PlannedRun, type PlanRunRequest, planRun } from '../../rules/plan-run.js';
import type { PackedRule } from '../../rules/rule.js';
import type { RunMeta } from '../../rules/run-record.js';
import { findRun, readEntries, runNumber } from '../../rules/run-store.js';
import type { App, OpenRealm } from '../../runtime/app.js';
import { pickProfile } from '../../runtime/config/config.js';
import { pacedReads } from '../../runtime/paced-reads.js';
import { isOver } from '../batches/batch-status.js';
import { payingChosen, payingIn } from '../pay/paying-in.js';
import type { Planned } from '../pay/plan-file.js';
import { record } from '../people/audit.js';
import { openForJudging } from '../services/recovery.js';
import { makeAudienceMembers } from './members.js';

/** Plans a rule on its realm: reads the facts at the realm's pace, decides, and freezes both. No write call. */
export async function planRule(
  app: App,
  realm: OpenRealm,
  { rule, audience }: PackedRule,
  request: Pick<PlanRunRequest, 'at' | 'scheduled' | 'stop' | 'onProgress'>,
): Promise<PlannedRun> {
  const profile = payingChosen(realm.profile, rule.currency);
  await openForJudging(app, profile);
  await registerRealm(realm.ledger);
  if (realm.embedded !== null)
    await makeAudienceMembers(realm.embedded, realm.profile.realmId, rule, audience);
  const planned = await planRun({
    ...request,
    ledger: realm.ledger,
    profile,
    rule,
    audience,
    now: Date.now(),
    newId: newRunId(),
    who: app.config.operator,
    reads: pacedReads(realm, profile.currency),
  });
  const { id, awards, tokens } = planned.meta;
  if (!request.scheduled)
    await record(app, { what: `planned rule ${rule.name}: plan ${id}`, why: null, orders: awards, tokens });
  return planned;
}

/** A plan or run by its name, in the books of the realm that is named, or of any that is configured. */
export async function findRunOf(
  app: App,
  named: string,
  realm: string | undefined,
): Promise<{ readonly profile: RealmProfile; readonly run: RunMeta } | undefined> {
  for (const profile of realm === undefined ? app.config.profiles : [pickProfile(app.config, realm)])
    try {
      return { profile, run: await findRun(app.ledger(profile), named) };
    } catch (error) {
      if (!isAlmonerError(error, 'ALM_RULE_RUN_NOT_FOUND')) throw error;
    }
  return undefined;
}

/** What a person has said of the place that a rule's run is paid from. */
export type Meant = { readonly newAddress?: boolean; readonly newLedger?: boolean };

/** The batch that a planned run would be; null where nobody gets anything. */
export async function batchOfRun(
  realm: OpenRealm,
  run: RunMeta,
  now: number,
  { newAddress = false, newLedger = false }: Meant = {},
): Promise<Planned | null> {
  if (run.awards === 0) return null;
  const { ledger } = realm;
  const profile = run.currency === undefined ? realm.profile : payingIn(realm.profile, run.currency);
  const mayPrecede = (moment: number) => hadBegun(run, moment);
  const options = {
    ledger,
    profile,
    again: null,
    newAddress,
    newLedger,
    skipInvalid: false,
    mayPrecede,
    now,
  };
  const numbered = async (number: number | null): Promise<Planned> => {
    const rows = awardRows(run, readEntries(ledger, run));
    const plan = await planRows(runSource(run), AWARD_SHEET, rows, { ...options, run: number });
    return { plan, preview: await previewPlan(plan, options, now) };
  };
  const number = await runNumber(ledger, run);
  const first = await numbered(number);
  if (number === null || run.number !== null || run.scheduled) return first;
  // While another batch of the period is open, the number may be that of an earlier one with the very same orders,
  // which is over: a run is met there only where these orders leave nothing to be paid.
  let last = first;
  for (let next = number + 1; meetsOver(last); next++) last = await numbered(next);
  return last.preview.payable > 0 || last.plan.findings.faultCount > 0 ? last : first;
}

function meetsOver({ plan: { existing } }: Planned): boolean {
  return existing?.view != null && isOver(existing.view);
}

/** Runs are named like batches, so that both are typed alike. */
function newRunId(): string {
  return shortId(createHash('sha256').update(newNonce()).digest('hex')).slice(0, 10);
}
