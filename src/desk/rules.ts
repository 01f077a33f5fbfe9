import { basename } from 'node:path';
import { AlmonerError } from '../core/errors/error.js';
import { type explainMember, factsOf } from '../operations/rules/explain.js';
import { type ListedRule, listRules } from '../operations/rules/list.js';
import { findRunOf } from '../operations/rules/plan.js';
import { isEdited } from '../operations/rules/run.js';
import { scheduleRow } from '../operations/rules/standings.js';
import type { Said } from '../rules/approvals.js';
import { type Decision, LEFT_OUT_WORDS } from '../rules/decision.js';
import { RUN_BLOCK_MEMBERS, type RunMeta } from '../rules/run-record.js';
import { readEntries } from '../rules/run-store.js';
import type { App, OpenRealm } from '../runtime/app.js';
import { isoTime } from '../words/spelling.js';
import type { ExplainReply, RuleAward, RulePlanPage, RuleRow } from './api/index.js';

/** The reward rules of the jobs folder, as the desk shows them. */
export async function ruleRows(app: App, cwd: string): Promise<RuleRow[]> {
  return (await listRules(app, cwd)).map(ruleRow);
}

export function explainReply({ meta, explained }: Awaited<ReturnType<typeof explainMember>>): ExplainReply {
  const { decision, condition, award } = explained;
  return {
    run: meta.id,
    rule: meta.rule,
    ...awardOf(decision),
    facts: { ...factsOf(explained), condition, award, steps: decision.steps },
  };
}

export async function findPlan(app: App, plan: string): Promise<{ realm: OpenRealm; meta: RunMeta }> {
  const found = await findRunOf(app, plan, undefined);
  if (found === undefined)
    throw new AlmonerError('ALM_RULE_RUN_NOT_FOUND', `No plan of a rule is called ${JSON.stringify(plan)}.`);
  return { realm: await app.realm(found.profile), meta: found.run };
}

export async function planPage(
  { realm, meta }: { realm: OpenRealm; meta: RunMeta },
  from: number,
  limit: number,
): Promise<RulePlanPage> {
  const decisions: Decision[] = [];
  const skipped = from % RUN_BLOCK_MEMBERS;
  for await (const entries of readEntries(realm.ledger, meta, Math.floor(from / RUN_BLOCK_MEMBERS))) {
    decisions.push(...entries.map(({ decision }) => decision));
    if (decisions.length >= skipped + limit) break;
  }
  const awards = decisions.slice(skipped, skipped + limit).map(awardOf);
  return {
    plan: meta.id,
    rule: meta.rule,
    realm: realm.profile.name,
    at: isoTime(meta.at),
    members: meta.members,
    awarded: meta.awards,
    op: meta.op,
    tokens: meta.tokens,
    stops: meta.stops.map(({ message }) => message),
    edited: await isEdited(meta),
    awards,
    next: from + awards.length < meta.members && awards.length > 0 ? String(from + awards.length) : null,
  };
}

function awardOf({ member, leftOut, tokens, detail, computed }: Decision): RuleAward {
  if (leftOut === null) {
    const why = detail ?? `the award comes to ${computed ?? 'the fixed amount'}`;
    return { member, tokens, awarded: true, why };
  }
  const why = `left out: ${LEFT_OUT_WORDS[leftOut]}${detail === null ? '' : ` (${detail})`}`;
  return { member, tokens: null, awarded: false, why };
}

const STATES = {
  manual: 'ready',
  approved: 'ready',
  waits: 'waits',
  changed: 'waits',
  unsynced: 'waits',
  gone: 'faulty',
  faulty: 'faulty',
} as const satisfies Record<ListedRule['state'], RuleRow['state']>;

const saidReply = ({ who, at, why }: Said) => ({ who, at: isoTime(at), why });

function ruleRow(rule: ListedRule): RuleRow {
  const { schedule, lastRun, standing, approved, asked, text } = rule;
  return {
    rule: rule.rule,
    file: basename(rule.file),
    realm: rule.realm ?? '',
    reason: rule.reason,
    schedule: schedule === null ? null : { cron: schedule.cron, timeZone: schedule.timezone },
    nextRuns: rule.nextRuns.map((run) => ({ ...run, at: isoTime(run.at) })),
    words: rule.words,
    approved: approved && { ...saidReply(approved), asked: approved.asked },
    asked: asked && saidReply(asked),
    needsSecond: rule.needsSecond,
    state: STATES[rule.state],
    text,
    faults:
      rule.state === 'gone'
        ? ['Its file or its schedule is gone.']
        : rule.faults.map(({ line, message, code }) => `line ${line}: ${message} [${code}]`),
    last:
      lastRun === null
        ? null
        : { run: lastRun.run, at: isoTime(lastRun.at), result: lastRun.state, batch: lastRun.batch },
    standing: standing && scheduleRow(standing),
  };
}
