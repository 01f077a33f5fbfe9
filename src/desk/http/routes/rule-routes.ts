import { z } from 'zod';
import { AlmonerError } from '../../../core/errors/error.js';
import { digits, limit, member, name, reason } from '../../api/values.js';
import type { Desk } from '../../desk.js';
import type { RuleDeps } from '../../rule-deps.js';
import { route } from '../route.js';

/** Reward rules: listed, planned, run from exactly that plan, and explained. */
const ruleParams = z.object({ rule: name });

function rulesOf(desk: Desk): RuleDeps {
  if (desk.parts.rules !== null) return desk.parts.rules;
  throw new AlmonerError('ALM_DESK_NOT_FOUND', 'This desk knows no rules.');
}

export const RULE_ROUTES = [
  route('GET /api/rules', 'viewer', {
    summary: 'The rules, when they run next, and their last results.',
    reply: 'RulesReply',
    handle: async (desk) => ({ rules: await rulesOf(desk).list() }),
  }),
  route('POST /api/rules/:rule/plan', 'operator', {
    summary: 'Who would get what and why; reads the members at the realm’s pace and sends nothing.',
    params: ruleParams,
    reply: 'TaskReply',
    audit: ({ params }) => ({ what: `planned rule ${params.rule}`, batch: null }),
    handle(desk, { params: { rule }, visitor }) {
      const rules = rulesOf(desk);
      const who = visitor.identity.name;
      return desk.tasks.start(`plan rule ${rule}`, who, null, async (progress) => {
        let last = 0;
        const plan = await rules.plan(rule, { who, why: null }, (done, total) => {
          last = done;
          progress(done, total);
        });
        return { done: last, plan };
      });
    },
  }),
  route('GET /api/rule-plans/:plan', 'viewer', {
    summary: 'A plan of a rule, member by member.',
    params: z.object({ plan: name }),
    query: z.object({
      cursor: z
        .string()
        .regex(/^[0-9]{1,9}$/)
        .default('0'),
      limit: limit(200).default(100),
    }),
    reply: 'RulePlanPage',
    handle: (desk, { params, query }) =>
      rulesOf(desk).planPage(params.plan, Number(query.cursor), query.limit),
  }),
  route('POST /api/rules/:rule/run', 'operator', {
    summary: 'Make a batch of exactly one plan, if members and total are those that were confirmed.',
    params: ruleParams,
    body: z.object({
      plan: name,
      members: z.number().int().min(0),
      tokens: digits,
      reason: reason.optional(),
    }),
    reply: 'TaskReply',
    audit: ({ params, body }) => ({ what: `ran rule ${params.rule}, plan ${body.plan}`, batch: null }),
    async handle(desk, { params: { rule }, body, visitor }) {
      const rules = rulesOf(desk);
      const page = await rules.planPage(body.plan, 0, 1);
      if (page.rule !== rule || page.awarded !== body.members || page.tokens !== body.tokens)
        throw new AlmonerError(
          'ALM_DESK_CHANGED',
          `The plan awards ${page.tokens} tokens to ${page.awarded} members, which is not what was confirmed. Nothing was done.`,
        );
      const who = visitor.identity.name;
      return desk.tasks.start(`run rule ${rule}`, who, page.awarded, async () => {
        const ref = await rules.run(body.plan, { who, why: body.reason ?? null });
        return { done: page.awarded, batch: ref?.id ?? null };
      });
    },
  }),
  route('POST /api/rules/:rule/approve', 'operator', {
    summary: 'Give a new or changed rule with a schedule its go, if its text is the one with this hash.',
    params: ruleParams,
    body: z.object({ hash: z.string().regex(/^[0-9a-f]{64}$/), reason: reason.optional() }),
    reply: 'RulesReply',
    audit: ({ params, body }) => ({
      what: `approved rule ${params.rule}, text ${body.hash.slice(0, 12)}`,
      batch: null,
    }),
    async handle(desk, { params: { rule }, body, visitor }) {
      await rulesOf(desk).approve(rule, body.hash, { who: visitor.identity.name, why: body.reason ?? null });
      return { rules: await rulesOf(desk).list() };
    },
  }),
  route('GET /api/rule-runs/:run/explain', 'viewer', {
    summary: 'A past decision about a member, from the facts frozen then.',
    params: z.object({ run: name }),
    query: z.object({ member }),
    reply: 'ExplainReply',
    handle: (desk, { params, query, raw }) => rulesOf(desk).explain(params.run, query.member, raw.isGone),
  }),
];
