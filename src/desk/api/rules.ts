import { z } from 'zod';
import { OUTCOME_NAMES } from '../../core/schedule-outcomes.js';
import { count, type Of, Op, sum, time } from '../../operations/views/values.js';
import { firstShown } from './approvals.js';
import { digits, limit, member, name, next, reason } from './values.js';

/** Reward rules: listed, approved, planned, run and explained. */

export const RuleParams = z.object({ rule: name });
export const RulePlanParams = z.object({ plan: name });
export const RuleRunParams = z.object({ run: name });

const RuleLast = z.strictObject({
  run: z.string(),
  at: time,
  result: z.string(),
  batch: z.string().nullable(),
});

const Said = z.strictObject({ who: z.string(), at: time, why: z.string().nullable() });

export const ScheduleRow = z
  .strictObject({
    realm: z.string(),
    rule: z.string(),
    key: z.string().describe('The same for as long as it is about the same time and has the same outcome.'),
    at: time.nullable().describe('The scheduled time that it is about; null before the first.'),
    outcome: z.enum(OUTCOME_NAMES),
    isGood: z.boolean().describe('Nobody has to do anything.'),
    message: z.string(),
    next: z.string().nullable().describe('What a person does about it.'),
    since: time,
    batch: z.string().nullable(),
    nextAt: time.nullable().describe('When it runs next; null while it would not.'),
    asked: Said.nullable().describe('Who wants its go, while a second person has to say it.'),
    paused: Said.nullable(),
    skip: Said.extend({ time }).nullable().describe('The time to come that is passed over.'),
  })
  .describe('How a schedule stands: what became of its last time.');
export type ScheduleRow = Of<typeof ScheduleRow>;

const MembersSide = z.strictObject({ count, first: z.array(z.string()).readonly() });

const RuleRow = z.strictObject({
  rule: z.string(),
  file: z.string(),
  realm: z.string(),
  reason: z.string().nullable(),
  schedule: z.strictObject({ cron: z.string(), timeZone: z.string() }).nullable(),
  nextRuns: z
    .array(z.strictObject({ at: time, period: z.string(), words: z.string() }))
    .describe('The next ten times of the schedule with their periods, whether it is approved or not.'),
  words: z.array(z.string()).describe('What it pays, to whom and how much at most.'),
  approved: Said.extend({
    asked: z.string().nullable().describe('Who asked for it, where a second person had to say it.'),
  }).nullable(),
  asked: Said.nullable().describe(
    'Who wants this very text to have its go, while a second person has not said it.',
  ),
  needsSecond: z
    .boolean()
    .describe('Its realm requires a second person: one asks for the go, another gives it.'),
  state: z
    .enum(['ready', 'waits', 'faulty'])
    .describe('`waits`: new or changed with a schedule, so that a person’s go is missing.'),
  text: z
    .strictObject({
      content: z.string(),
      hash: z.string(),
      difference: z
        .array(z.strictObject({ mark: z.enum([' ', '-', '+']), text: z.string() }))
        .nullable()
        .describe('To the text that had the go before, line by line; null where none had.'),
      members: z
        .strictObject({
          ...MembersSide.shape,
          changed: z.strictObject({ added: MembersSide, gone: MembersSide }).nullable(),
        })
        .describe(
          'Who is in the list, and what is other than in the list that was approved last; null: none was, or one is too long to be kept. GET /api/rules/RULE/members.csv has all of them.',
        ),
    })
    .nullable()
    .describe('What a go would be for; null where none is missing.'),
  faults: z.array(z.string()),
  last: RuleLast.nullable().describe('The last run, by the schedule or by hand, and how its batch stands.'),
  standing: ScheduleRow.nullable().describe('Null where the store knows no schedule of it.'),
});
export type RuleRow = Of<typeof RuleRow>;
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
