import { Readable } from 'node:stream';
import { counted } from '../../../core/counted.js';
import { AlmonerError } from '../../../core/errors/error.js';
import { CALENDAR_TIMES, calendarOf } from '../../../operations/rules/calendar.js';
import { explainMember } from '../../../operations/rules/explain.js';
import { openRuleNamed, profileOfRule } from '../../../operations/rules/files.js';
import { dismissTimes, makeUp, refuseOtherPeriod } from '../../../operations/rules/missed.js';
import { planRule } from '../../../operations/rules/plan.js';
import { membersCsv } from '../../../operations/rules/rule-members.js';
import { isEdited, makeBatchApart } from '../../../operations/rules/run.js';
import { type RuleStep, steerRule } from '../../../operations/rules/steer-rule.js';
import { syncRules } from '../../../operations/rules/sync.js';
import { refuseUnsafeStore } from '../../../operations/services/store-safety.js';
import { shown } from '../../../operations/views/shown.js';
import { isoTime } from '../../../words/spelling.js';
import * as calendar from '../../api/calendar.js';
import { TaskReply } from '../../api/overview.js';
import * as api from '../../api/rules.js';
import { refuseOtherFirst } from '../../approvals.js';
import { explainReply, findPlan, planPage, ruleRows } from '../../rules.js';
import { Download, route } from '../route.js';

/** Makes a route that pauses, resumes or skips a rule's schedule. */
function steering(
  step: RuleStep,
  summary: string,
  body: typeof api.RuleSteerRequest | typeof api.RulePauseRequest,
) {
  return route(`POST /api/rules/:rule/${step}`, 'operator', {
    summary,
    params: api.RuleParams,
    body,
    reply: api.RulesReply,
    async handle({ app, cwd }, { params: { rule }, body, visitor }) {
      await steerRule(app.as(visitor.identity), rule, step, body.reason ?? null);
      return { rules: await ruleRows(app, cwd) };
    },
  });
}

/** Routes for reward rules: list, plan, run from exactly that plan, and explain. */
export const RULE_ROUTES = [
  route('GET /api/rules', 'viewer', {
    summary: 'The rules, when they run next, and their last results.',
    reply: api.RulesReply,
    handle: async ({ app, cwd }) => ({ rules: await ruleRows(app, cwd) }),
  }),
  route('POST /api/rules/:rule/plan', 'operator', {
    summary: 'Who would get what and why; reads the members at the realm’s pace and sends nothing.',
    params: api.RuleParams,
    body: api.RulePlanRequest,
    reply: TaskReply,
    handle({ app, cwd, stop, tasks }, { params: { rule }, body, visitor }) {
      const who = visitor.identity.name;
      return tasks.start(`plan rule ${rule}`, who, null, async (progress) => {
        const loaded = await openRuleNamed(app.config, cwd, rule, stop);
        const realm = await app.realm(profileOfRule(app.config, loaded.rule));
        const missed = body?.missed === undefined ? null : Date.parse(body.missed);
        if (missed !== null) await refuseOtherPeriod(realm.ledger, loaded.rule, missed);
        const request = { at: missed ?? Date.now(), scheduled: false, stop, onProgress: progress };
        return { plan: (await planRule(app.as(visitor.identity), realm, loaded, request)).meta.id };
      });
    },
  }),
  route('GET /api/rule-plans/:plan', 'viewer', {
    summary: 'A plan of a rule, member by member.',
    params: api.RulePlanParams,
    query: api.RulePlanQuery,
    reply: api.RulePlanPage,
    handle: async ({ app }, { params, query }) =>
      planPage(await findPlan(app, params.plan), Number(query.cursor), query.limit),
  }),
  route('POST /api/rules/:rule/run', 'operator', {
    summary: 'Make a batch of exactly one plan, if members and total are those that were confirmed.',
    params: api.RuleParams,
    body: api.RuleRunRequest,
    reply: TaskReply,
    async handle({ app, tasks }, { params: { rule }, body, visitor }) {
      const { realm, meta } = await findPlan(app, body.plan);
      if (meta.rule !== rule || meta.awards !== body.members || meta.tokens !== body.tokens)
        throw new AlmonerError(
          'ALM_DESK_CHANGED',
          `The plan awards ${meta.tokens} tokens to ${counted(meta.awards, 'member')}, which is not what was confirmed. Nothing was done.`,
        );
      const who = visitor.identity.name;
      return tasks.start(`run rule ${rule}`, who, meta.awards, async () => {
        await refuseUnsafeStore(app);
        if (await isEdited(meta))
          throw new AlmonerError(
            'ALM_RULE_EDITED',
            `The file of rule ${meta.rule} was edited after plan ${meta.id} was made. Nothing was enqueued.`,
            {
              next: `Plan the rule again, or pay the plan as it was with \`almoner rules run --plan ${meta.id}\`.`,
            },
          );
        const made = await makeBatchApart(app.as(visitor.identity), realm, meta, {
          now: Date.now(),
          why: body.reason ?? null,
        });
        const batch = made?.ref.id ?? null;
        await makeUp(app.as(visitor.identity), realm.ledger, meta, batch);
        return { done: meta.awards, batch };
      });
    },
  }),
  route('POST /api/rules/:rule/approve', 'operator or approver', {
    summary:
      'Approve a new or changed rule with a schedule, if its text has this hash. Where the realm requires a second person, the first call asks for the approval, and another person, an approver, gives it. Elsewhere an operator approves.',
    params: api.RuleParams,
    body: api.RuleApproveRequest,
    reply: api.RulesReply,
    async handle({ app, cwd, agreeing }, { params: { rule }, body, visitor }) {
      const request = { cwd, approve: [rule], seen: body.hash, prune: false, why: body.reason };
      await agreeing.through(async () => {
        const row = (await ruleRows(app, cwd)).find((one) => one.rule === rule);
        if (row?.needsSecond === true && body.asked === undefined)
          throw new AlmonerError(
            'ALM_DESK_BAD_REQUEST',
            `Realm ${row.realm} requires a second person: the request names in \`asked\` the person who asked for the approval, or null where nobody did. Nothing was done.`,
          );
        if (row?.needsSecond === true || body.asked != null)
          refuseOtherFirst(body.asked ?? null, row?.asked?.who ?? null);
        return syncRules(app.as(visitor.identity), request);
      });
      return { rules: await ruleRows(app, cwd) };
    },
  }),
  steering('pause', 'Let the times of the schedule pass without a run.', api.RulePauseRequest),
  steering('resume', 'End a pause, and a skip that has not come.', api.RuleSteerRequest),
  steering('skip', 'Let the next time of the schedule pass without a run.', api.RuleSteerRequest),
  steering(
    'revoke',
    'Withdraw the approval: the rule does not run by itself until it is approved again.',
    api.RuleSteerRequest,
  ),
  route('GET /api/rules/:rule/members.csv', 'viewer', {
    summary: 'The present members of a rule, with the other columns of their list.',
    params: api.RuleParams,
    reply: 'text/csv; charset=utf-8',
    async handle({ app, cwd }, { params: { rule } }) {
      const { audience } = await openRuleNamed(app.config, cwd, rule);
      return new Download(
        `${rule}-members.csv`,
        'text/csv; charset=utf-8',
        Readable.from(membersCsv(audience)),
      );
    },
  }),
  route('GET /api/calendar', 'viewer', {
    summary: 'Times of the schedules: the missed ones, what became of past ones, and coming ones.',
    query: calendar.CalendarQuery,
    reply: calendar.CalendarReply,
    async handle({ app }, { query: { rule, cursor, limit } }) {
      const before = cursor === undefined ? undefined : Date.parse(cursor);
      return shown(await calendarOf(app, { rule, before, limit }), CALENDAR_TIMES);
    },
  }),
  route('POST /api/rules/:rule/dismiss', 'operator', {
    summary: 'Take missed times of the schedule off the list. almoner pays nothing for them.',
    params: api.RuleParams,
    body: calendar.DismissRequest,
    reply: calendar.DismissReply,
    async handle({ app }, { params: { rule }, body: { times, reason }, visitor }) {
      const choose = () => times.map((time) => Date.parse(time));
      const gone = await dismissTimes(app.as(visitor.identity), rule, choose, reason);
      return { dismissed: gone.map((at) => isoTime(at)) };
    },
  }),
  route('GET /api/rule-runs/:run/explain', 'viewer', {
    summary: 'A past decision about a member, from the facts frozen then.',
    params: api.RuleRunParams,
    query: api.ExplainQuery,
    reply: api.ExplainReply,
    async handle({ app, explaining }, { params: { run }, query: { member }, raw }) {
      // Reads a run until it reaches the member. One request at a time, and only while its client waits.
      return explaining.through(async () => {
        if (raw.isGone())
          throw new AlmonerError('ALM_DESK_BUSY', 'Nobody waits for the explanation any more.');
        return explainReply(await explainMember(app, run, member, undefined));
      });
    },
  }),
];
