import { z } from 'zod';
import { Rule, type ScheduleRow } from '../../operations/views/rule.js';
import { count, type Of, Op, sum, time } from '../../operations/views/values.js';
import { firstShown } from './approvals.js';
import { digits, limit, member, name, next, reason } from './values.js';

/** Reward rules: listed, approved, planned, run and explained. */

export const RuleParams = z.object({ rule: name });
export const RulePlanParams = z.object({ plan: name });
export const RuleRunParams = z.object({ run: name });

const RuleRow = Rule.extend({
  file: z.string(),
  realm: z.string(),
  schedule: z.strictObject({ cron: z.string(), timeZone: z.string() }).nullable(),
  state: z
    .enum(['ready', 'waits', 'faulty'])
    .describe('`waits`: new or changed with a schedule, so that a person’s approval is missing.'),
  faults: z.array(z.string()),
  last: z
    .strictObject({ run: z.string(), at: time, result: z.string(), batch: z.string().nullable() })
    .nullable()
    .describe('The last run, by the schedule or by hand, and the state of its batch.'),
});
export type RuleRow = Of<typeof RuleRow>;
export type { ScheduleRow };
export const RulesReply = z.strictObject({ rules: z.array(RuleRow) });
export type RulesReply = Of<typeof RulesReply>;

const RuleAward = z.strictObject({
  member: z.string(),
  tokens: z.number().nullable(),
  awarded: z.boolean(),
  why: z.string(),
});
export type RuleAward = Of<typeof RuleAward>;

export const RulePlanQuery = z.object({
  cursor: z
    .string()
    .regex(/^[0-9]{1,9}$/)
    .default('0'),
  limit: limit(200).default(100),
});
export const RulePlanPage = z.strictObject({
  plan: z.string(),
  rule: z.string(),
  realm: z.string(),
  at: time,
  members: count,
  awarded: count,
  op: Op,
  tokens: sum,
  stops: z.array(z.string()).describe('Why no batch can be made of it; empty where one can.'),
  edited: z
    .boolean()
    .describe('The rule’s file is another one by now: the desk makes no batch of this plan.'),
  awards: z.array(RuleAward),
  next,
});
export type RulePlanPage = Of<typeof RulePlanPage>;

export const RulePlanRequest = z
  .object({
    missed: time
      .optional()
      .describe('Plan for this missed time instead of now; the run of that plan makes it up.'),
  })
  .optional();

export const RuleRunRequest = z.object({
  plan: name,
  members: count.describe('The awarded members that the person confirmed.'),
  tokens: digits.describe('The total that the person confirmed.'),
  reason: reason.optional(),
});
export type RuleRunRequest = Of<typeof RuleRunRequest>;

export const RuleApproveRequest = z.object({
  hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('The hash of the text that the person saw.'),
  asked: firstShown.optional().describe('May be left out where the realm requires no second person.'),
  reason: reason.optional(),
});
export type RuleApproveRequest = Of<typeof RuleApproveRequest>;

export const RuleSteerRequest = z.object({ reason: reason.optional() });
export const RulePauseRequest = z.object({ reason });

const told = z.record(z.string(), z.unknown()).nullable().describe('As the realm told it.');
export const ExplainQuery = z.object({ member });
export const ExplainReply = z.strictObject({
  run: z.string(),
  rule: z.string(),
  member: z.string(),
  awarded: z.boolean(),
  tokens: z.number().nullable(),
  why: z.string(),
  facts: z
    .strictObject({
      row: z.record(z.string(), z.string()),
      member: told,
      web3: told,
      balance: z.string().nullable(),
      wallet: z.string().nullable(),
      condition: z.string().nullable(),
      award: z.string(),
      steps: z.array(z.string()),
    })
    .describe('What the decision rests on, as it was frozen with the run.'),
});
export type ExplainReply = Of<typeof ExplainReply>;
