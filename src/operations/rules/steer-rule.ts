import { isDeepStrictEqual } from 'node:util';
import { AlmonerError } from '../../core/errors/error.js';
import { spellMoment } from '../../core/zones.js';
import { type RealmLedger, steering, storeNowMs } from '../../ledger/index.js';
import {
  changeScheduledRule,
  dealtWithUntil,
  lastRuns,
  type Said,
  type ScheduledRule,
  type StoredRule,
  scheduledRules,
} from '../../rules/approvals.js';
import { newestTime, nextTime } from '../../rules/schedule.js';
import { heldWords } from '../../rules/schedule-health.js';
import type { App } from '../../runtime/app.js';
import { record } from '../people/audit.js';
import { lastOf, noteTime } from './note-time.js';

/** What a person may do to a rule's schedule. None of it touches a batch that is sealed. */
const STEP_DONE = {
  pause: 'paused',
  resume: 'resumed',
  skip: 'skipped the next run of',
  revoke: 'took back the approval of',
} as const;
export type RuleStep = keyof typeof STEP_DONE;

/**
 * Returns what is so now, for people. `why` stands with it, and in the audit. A rule that was moved to another realm has
 * an entry in each until somebody prunes: none of them may go on as if nothing had been said.
 */
export async function steerRule(app: App, rule: string, step: RuleStep, why: string | null): Promise<string> {
  const words: string[] = [];
  let isChanged = false;
  for (const profile of app.config.profiles) {
    const ledger = app.ledger(profile);
    const entry = (await scheduledRules(ledger)).find((one) => one.rule === rule);
    if (entry === undefined) continue;
    const said = { who: app.config.operator, at: await storeNowMs(ledger), why };
    // Times that passed while it was paused are noted first: they are not made up for.
    if (step === 'resume' && entry.paused !== null) await notePause(ledger, entry, entry.paused, said.at);
    const { before, after } = await changeScheduledRule(
      ledger,
      rule,
      (known) => known && STEPS[step](known, said),
    );
    isChanged ||= !isDeepStrictEqual(before, after);
    if (step === 'revoke' && (await withdrawRequest(ledger, rule))) isChanged = true;
    if (after !== null) words.push(`${profile.name}: ${wordsOf(step, after)}`);
  }
  if (isChanged) await record(app, { what: `${STEP_DONE[step]} rule ${rule}`, why });
  if (words.length > 0) return words.join('\n');
  throw new AlmonerError(
    'ALM_RULE_NOT_FOUND',
    `The store knows no schedule of a rule called ${JSON.stringify(rule)}. Nothing was done.`,
    { next: 'List the rules with `almoner rules list`; `almoner rules sync` puts their schedules in force.' },
  );
}

/** Also one that was approved and not used yet: the process that approved it was cut off. */
async function withdrawRequest(ledger: RealmLedger, rule: string): Promise<boolean> {
  const request = (await steering.approvals.ruleRequests(ledger)).get(rule);
  if (request === undefined) return false;
  const subject = { kind: 'rule', ledger, rule } as const;
  return (await steering.approvals.rejectApproval(subject, request.hash, null)) === 'rejected';
}

const STEPS: Readonly<Record<RuleStep, (known: StoredRule, said: Said) => StoredRule>> = {
  pause: (known, said) => ({ ...known, paused: known.paused ?? said }),
  resume: (known) => ({ ...known, paused: null, skip: null }),
  skip(known, said) {
    const time = nextTime(known, said.at);
    return time === null ? known : { ...known, skip: { ...said, time } };
  },
  revoke: (known, said) =>
    known.approved === null
      ? known
      : { ...known, approved: null, takenBack: said, waitsSince: known.approved.at },
};

function wordsOf(step: RuleStep, { rule, timezone, paused, skip, approved, takenBack }: StoredRule): string {
  const runs = approved === null ? 'It waits for an approval.' : 'It runs at its next time.';
  switch (step) {
    case 'pause':
      return `${rule}: ${paused === null ? 'not paused.' : heldWords('paused', paused)}`;
    case 'resume':
      return `${rule}: neither paused nor skipped. ${runs}`;
    case 'skip':
      return `${rule}: ${skip === null ? 'no time is to come.' : `the run of ${spellMoment(skip.time, timezone)} is skipped.`}`;
    case 'revoke':
      return `${rule}: ${takenBack === null ? runs : heldWords('the approval was withdrawn', takenBack)}`;
  }
}

async function notePause(
  ledger: RealmLedger,
  entry: ScheduledRule,
  paused: Said,
  now: number,
): Promise<void> {
  const last = (await lastRuns(ledger)).get(entry.rule) ?? null;
  const at = newestTime(entry, dealtWithUntil(entry, last), now);
  if (at === null || entry.approved === null) return;
  const message = heldWords('Paused', paused);
  await noteTime(ledger, entry, await lastOf(ledger, entry, { at, result: 'paused', message }, now));
}
