import { openRule, profileOfRule } from '../operations/rules/files.js';
import { planRule } from '../operations/rules/plan.js';
import { secondsFor } from '../planning/preview.js';
import type { Decision } from '../rules/decision.js';
import type { PlannedRun } from '../rules/plan-run.js';
import { requestsAtMost } from '../rules/read-candidates.js';
import type { PackedRule } from '../rules/rule.js';
import { readEntries } from '../rules/run-store.js';
import { readAt } from '../rules/zone.js';
import type { App, OpenRealm } from '../runtime/app.js';
import { listenForStop } from '../runtime/stop-signals.js';
import { duration, grouped } from '../words/spelling.js';
import { FactsProgress } from './facts-progress.js';
import type { CommandBase } from './frame/command.js';
import { usage } from './frame/options.js';

/** What the commands on one rule have in common: its file, its realm, and a plan with progress. */
export type RuleSession = { readonly loaded: PackedRule; readonly realm: OpenRealm; readonly at: number };

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

function timeOf(at: string | undefined, { rule }: PackedRule): number {
  if (at === undefined) return Date.now();
  const moment = readAt(at, rule.zone);
  if (moment === undefined)
    throw usage(`--at: expected a date such as 2026-11-16 or 2026-11-16T09:00, got ${JSON.stringify(at)}`);
  return moment;
}

/** A plan with all that it shows. */
export type DecidedRun = PlannedRun & { readonly decisions: readonly Decision[] };

/** Plans, showing the progress; Ctrl-C ends the reading, and the same command goes on with it. */
export async function planWithProgress(
  context: CommandBase,
  app: App,
  { loaded, realm, at }: RuleSession,
): Promise<DecidedRun> {
  const { profile } = realm;
  const most = requestsAtMost(loaded.rule, loaded.audience, profile.wallets.chunk);
  if (most > NOTED_FROM)
    context.output.note(
      `Reading facts of ${grouped(loaded.audience.members)} members: at most ${grouped(most)} requests, about ${duration(secondsFor(most, { ...profile, certainty: 'manual' }, 0) * 1000)} at the realm's pace.`,
    );
  const signals = listenForStop(() => context.output.note('\nStopping: what was read is kept…'));
  const progress = new FactsProgress(process.stderr);
  try {
    const planned = await planRule(app, realm, loaded, {
      at,
      scheduled: false,
      stop: signals.requested,
      onProgress: (made, total) => progress.show(made, total),
    });
    const decisions: Decision[] = [];
    for await (const entries of readEntries(realm.ledger, planned.meta))
      decisions.push(...entries.map(({ decision }) => decision));
    return { ...planned, decisions };
  } finally {
    progress.end();
    signals.release();
  }
}

/** Fewer requests than this are over before they could be told. */
const NOTED_FROM = 50;
