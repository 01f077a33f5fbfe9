import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { AlmonerError, isAlmonerError } from '../core/errors/error.js';
import { Line } from '../core/line.js';
import { makeBatchApart } from '../operations/pay/batch-apart.js';
import { explainMember } from '../operations/rules/explain.js';
import { findRules, openRule, profileOfRule } from '../operations/rules/files.js';
import { type ListedRule, listRules } from '../operations/rules/list.js';
import { planRule } from '../operations/rules/plan.js';
import { isEdited } from '../operations/rules/run.js';
import { syncRules } from '../operations/rules/sync.js';
import { refuseUnsafeStore } from '../operations/services/store-safety.js';
import { type LastRun, lastRunWords } from '../rules/approvals.js';
import { type Decision, LEFT_OUT_WORDS } from '../rules/decision.js';
import { hashOf } from '../rules/load-rule.js';
import { RUN_BLOCK_MEMBERS, type RunMeta } from '../rules/run-record.js';
import { findRun, readEntries } from '../rules/run-store.js';
import { nextTime } from '../rules/schedule.js';
import type { App, OpenRealm } from '../runtime/app.js';
import type { ExplainReply, RuleAward, RulePlanPage, RuleRow } from './api/index.js';
import type { RuleDeps } from './rule-deps.js';

/** The reward rules of the jobs folder, for the desk. */
const NEXT_SHOWN = 3;

export function deskRules(app: App, options: { readonly cwd: string; readonly stop: AbortSignal }): RuleDeps {
  const { cwd, stop } = options;
  const explaining = new Line(1);
  return {
    async list() {
      const rules = await listRules(app, cwd);
      return Promise.all(rules.map(async (rule) => ruleRow(rule, await textOf(rule, cwd))));
    },
    async plan(name, { who }, onProgress) {
      // By name only: a path from a request must not reach the disk.
      const found = await findRules(app.config, cwd);
      const file = found.find(({ result }) => 'rule' in result && result.rule.name === name)?.file;
      if (file === undefined)
        throw new AlmonerError('ALM_RULE_NOT_FOUND', `No usable rule is called ${JSON.stringify(name)}.`);
      const loaded = await openRule(app.config, cwd, file, stop);
      const realm = await app.realm(profileOfRule(app.config, loaded.rule));
      const request = { at: Date.now(), scheduled: false, stop, onProgress };
      return (await planRule(app.as(who), realm, loaded, request)).meta.id;
    },
    planPage: async (plan, from, limit) => planPage(await findPlan(app, plan), from, limit),
    async run(plan, { who }) {
      await refuseUnsafeStore(app);
      const { realm, meta } = await findPlan(app, plan);
      if (await isEdited(meta))
        throw new AlmonerError(
          'ALM_RULE_EDITED',
          `The file of rule ${meta.rule} was edited after plan ${meta.id} was made. Nothing was enqueued.`,
          {
            next: `Plan the rule again, or pay the plan as it was with \`almoner rules run --plan ${meta.id}\`.`,
          },
        );
      return (await makeBatchApart(app.as(who), realm, meta, null, Date.now()))?.ref ?? null;
    },
    async approve(rule, seen, { who }) {
      await syncRules(app.as(who), { cwd, approve: [rule], seen, prune: false });
    },
    async explain(run, member, isGone): Promise<ExplainReply> {
      const { meta, explained } = await explaining.through(async () => {
        if (isGone()) throw new AlmonerError('ALM_DESK_BUSY', 'Nobody waits for the explanation any more.');
        return explainMember(app, run, member, undefined);
      });
      const { decision, condition, award, columns, cells, balance, wallet } = explained;
      return {
        run: meta.id,
        rule: meta.rule,
        member: decision.member,
        awarded: decision.leftOut === null,
        tokens: decision.leftOut === null ? decision.tokens : null,
        why: whyOf(decision),
        facts: {
          row: Object.fromEntries(columns.map((name, at) => [name, cells[at] ?? ''])),
          member: json(explained.member),
          web3: json(explained.web3),
          balance,
          wallet,
          condition,
          award,
          steps: decision.steps,
        },
      };
    },
  };
}

async function findPlan(app: App, plan: string): Promise<{ realm: OpenRealm; meta: RunMeta }> {
  for (const profile of app.config.profiles)
    try {
      const meta = await findRun(app.ledger(profile), plan);
      return { realm: await app.realm(profile), meta };
    } catch (error) {
      if (!isAlmonerError(error, 'ALM_RULE_RUN_NOT_FOUND')) throw error;
    }
  throw new AlmonerError('ALM_RULE_RUN_NOT_FOUND', `No plan of a rule is called ${JSON.stringify(plan)}.`);
}

async function planPage(
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
  const awards = decisions.slice(skipped, skipped + limit).map((decision): RuleAward => {
    const awarded = decision.leftOut === null;
    const tokens = awarded ? decision.tokens : null;
    return { member: decision.member, tokens, awarded, why: whyOf(decision) };
  });
  return {
    plan: meta.id,
    rule: meta.rule,
    realm: realm.profile.name,
    at: new Date(meta.at).toISOString(),
    members: meta.members,
    awarded: meta.awards,
    tokens: meta.tokens,
    stops: meta.stops.map(({ message }) => message),
    edited: await isEdited(meta),
    awards,
    next: from + awards.length < meta.members && awards.length > 0 ? String(from + awards.length) : null,
  };
}

function whyOf({ leftOut, detail, computed }: Pick<Decision, 'leftOut' | 'detail' | 'computed'>): string {
  if (leftOut === null) return detail ?? `the award comes to ${computed ?? 'the fixed amount'}`;
  return `left out: ${LEFT_OUT_WORDS[leftOut]}${detail === null ? '' : ` (${detail})`}`;
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

/** The hash is of the very text that is shown, whatever becomes of the file meanwhile. */
async function textOf({ state, file }: ListedRule, cwd: string): Promise<RuleRow['text']> {
  if (STATES[state] !== 'waits') return null;
  const content = await readFile(resolve(cwd, file), 'utf8').catch(() => null);
  return content === null ? null : { content, hash: hashOf(content) };
}

function ruleRow(rule: ListedRule, text: RuleRow['text']): RuleRow {
  const { schedule, lastRun, lastScheduled } = rule;
  return {
    rule: rule.rule,
    file: basename(rule.file),
    realm: rule.realm ?? '',
    reason: null,
    schedule: schedule === null ? null : { cron: schedule.cron, timeZone: schedule.timezone },
    nextRuns: nextRuns(rule),
    state: STATES[rule.state],
    text,
    faults:
      rule.state === 'gone'
        ? ['Its file or its schedule is gone.']
        : rule.faults.map(({ line, message, code }) => `line ${line}: ${message} [${code}]`),
    last: lastRun === null ? null : lastOf(lastRun, lastRun.state),
    lastScheduled: lastScheduled === null ? null : lastOf(lastScheduled, lastRunWords(lastScheduled)),
  };
}

function lastOf(
  { run, at, batch }: Pick<LastRun, 'run' | 'at' | 'batch'>,
  result: string,
): NonNullable<RuleRow['last']> {
  return { run: run ?? '', at: new Date(at).toISOString(), result, batch };
}

function nextRuns({ schedule, next }: ListedRule): string[] {
  const times: string[] = [];
  let time: number | null = next;
  while (time !== null && schedule !== null && times.length < NEXT_SHOWN) {
    times.push(new Date(time).toISOString());
    time = nextTime(schedule, time);
  }
  return times;
}

function json(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
