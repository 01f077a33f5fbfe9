import { z } from 'zod';
import { CURRENCY_ID } from '../core/currencies.js';
import { MEMBER_ID, MEMBER_ID_EXPECTED } from '../core/ids.js';

/**
 * The format of a rule file, described only here. rule.schema.json for editors is generated from it, and a test holds
 * the two equal. Checks between fields are in load-rule.ts, because JSON Schema expresses them badly.
 */
export const PERIODS = ['once', 'day', 'week', 'month'] as const;
export const ROUNDINGS = ['floor', 'round', 'ceil'] as const;
export const LIMITS = ['perMember', 'perRun', 'perPeriod'] as const;

const NAME_PATTERN = /^[a-z0-9][a-z0-9-]{0,47}$/;
const PERCENT_PATTERN = /^(100|[0-9]{1,2})(\.[0-9]{1,2})? ?%$/;

const expression = (description: string) => z.string().min(1).max(4000).describe(description);
const points = (description: string) =>
  z.int().min(1).max(Number.MAX_SAFE_INTEGER).describe(`${description}, in points`);

const memberId = z
  .union(
    [z.string().regex(MEMBER_ID, { error: `expected a member id of ${MEMBER_ID_EXPECTED}` }), z.int().min(0)],
    { error: `expected a member id of ${MEMBER_ID_EXPECTED}` },
  )
  .describe('A member id: 1 to 20 digits without a leading zero; quotes are welcome and not needed');

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: 'expected text, a number, true or false',
});

const inlineMember = z.union([memberId, z.object({ member: memberId }).catchall(cell)], {
  error: 'expected a member id, or a mapping with `member` and further columns',
});

export const audienceSchema = z
  .strictObject({
    file: z
      .string()
      .min(1)
      .optional()
      .describe('A CSV with a column `member`, or a YAML file that holds an audience like this one'),
    members: z
      .array(inlineMember)
      .min(1)
      .max(100_000)
      .optional()
      .describe('The members themselves: ids, or mappings with `member` and further columns'),
    checkWallets: z
      .boolean()
      .optional()
      .describe(
        'Ask the realm about the column `wallet`; members whose wallet is not in the realm are left out',
      ),
  })
  .describe('Who may get an award: `file` or `members`');

export type AudienceInput = z.output<typeof audienceSchema>;

const schedule = z
  .strictObject({
    cron: z
      .string()
      .describe('Minute, hour, day of month, month, day of week: "0 9 * * 1" is Mondays at 9:00'),
    timezone: z.string().optional().describe('A name such as Europe/Berlin; UTC where nothing is said'),
    missed: z
      .enum(['skip', 'once'])
      .describe('After a downtime: `once` makes up for the last missed run, `skip` waits for the next'),
  })
  .describe('When `almoner serve` runs the rule by itself');

const share = z.strictObject({
  pot: points('What is shared out in one period'),
  weight: expression('CEL: the weight of one member; the pot is shared in proportion to it'),
});

const award = z
  .strictObject({
    tokens: z
      .union([z.int().min(1).max(Number.MAX_SAFE_INTEGER), z.string().min(1).max(4000)], {
        error: 'expected a whole number of points, or an expression',
      })
      .optional()
      .describe('Points for each member: a whole number, or a CEL expression'),
    share: share
      .optional()
      .describe('Instead of `tokens`: shares of a pot, largest remainders first, never more than the pot'),
    rounding: z
      .enum(ROUNDINGS)
      .optional()
      .describe('How a fraction becomes whole points; needed unless the award is plainly a whole number'),
    floor: z
      .int()
      .min(0)
      .max(Number.MAX_SAFE_INTEGER)
      .optional()
      .describe('With `op: debit`: never take a member below this balance'),
  })
  .describe('What a member gets: `tokens` or `share`');

const limits = z
  .strictObject({
    perMember: points('The most that one member gets in one run').optional(),
    perRun: points('The most that one run pays; required with a schedule').optional(),
    perPeriod: points('The most that all runs of one period pay').optional(),
    minimum: points('Smaller awards are left out').optional(),
    cut: z
      .array(z.enum(LIMITS))
      .optional()
      .describe('Limits that cut awards down; a limit not named here stops the run before anything is paid'),
  })
  .describe('What the rule may pay at most');

export const ruleSchema = z
  .strictObject({
    name: z
      .string()
      .regex(NAME_PATTERN, { error: 'expected 1 to 48 lower-case letters, digits and dashes' })
      .describe('The name of the rule; it is part of every reference, so changing it pays again'),
    description: z.string().max(500).optional().describe('For people'),
    realm: z
      .string()
      .min(1)
      .describe('The profile or realm id that the rule pays; `embedded` is the rehearsal'),
    currency: z
      .string()
      .regex(CURRENCY_ID, { error: 'expected the id of a currency' })
      .optional()
      .describe('One of the `currencies` in the realm’s profile; its own where nothing is said'),
    schedule: schedule.optional(),
    timezone: z.string().optional().describe('Whose days, weeks and months count; UTC where nothing is said'),
    period: z
      .enum(PERIODS)
      .describe('At most one award for each member in each period; weeks begin on Monday, as in ISO 8601'),
    audience: audienceSchema,
    condition: expression(
      'CEL: who of the audience gets the award; everybody where nothing is said',
    ).optional(),
    op: z
      .enum(['credit', 'debit', 'transfer'])
      .default('credit')
      .describe('credit adds points, debit takes them, transfer gives them from the member `from`'),
    from: memberId.optional().describe('With `op: transfer`: the member who gives'),
    award,
    limits: limits.default({}),
    maxMissing: z
      .string()
      .regex(PERCENT_PATTERN, { error: 'expected a percentage such as "5%"' })
      .default('5%')
      .describe('The run stops when more members than this lack a fact'),
    keepRuns: z
      .int()
      .min(1)
      .max(1000)
      .default(100)
      .describe('How many runs keep their facts for `almoner rules explain`'),
    reason: z.string().min(1).max(200).describe('Stands beside every order, in reports and in histories'),
  })
  .describe('A reward rule of almoner');

export type RuleInput = z.output<typeof ruleSchema>;

/** A rule with every field optional: the part that remains of a faulty rule. */
export const rulePartSchema = ruleSchema.partial().extend({
  schedule: schedule.partial().optional(),
  award: award.extend({ share: share.partial().optional() }).optional(),
});

export type RulePart = z.output<typeof rulePartSchema>;

/** The schema for editors. It describes the input, so fields with a default may be omitted. */
export function ruleJsonSchema(): Record<string, unknown> {
  return { title: 'almoner rule', ...z.toJSONSchema(ruleSchema, { io: 'input' }) };
}
