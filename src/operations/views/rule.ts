import { z } from 'zod';
import { OUTCOME_NAMES } from '../../core/schedule-outcomes.js';
import { count, type Of, time } from './values.js';

/** A reward rule and its schedule. */

const Said = z.strictObject({ who: z.string(), at: time, why: z.string().nullable() });

export const ScheduleRow = z
  .strictObject({
    realm: z.string(),
    rule: z.string(),
    key: z.string().describe('The same for as long as it is about the same time and has the same outcome.'),
    at: time.nullable().describe('The scheduled time that it is about; null before the first.'),
    outcome: z.enum(OUTCOME_NAMES),
    isGood: z.boolean().describe('No person has to do anything.'),
    message: z.string(),
    next: z.string().nullable().describe('What a person does about it.'),
    since: time,
    batch: z.string().nullable(),
    nextAt: time.nullable().describe('When it runs next; null while it would not.'),
    asked: Said.nullable().describe('Who asked for its approval, while a second person has to give it.'),
    paused: Said.nullable(),
    skip: Said.extend({ time }).nullable().describe('The time to come that is passed over.'),
  })
  .describe('The health of a schedule: what became of its last time.');
export type ScheduleRow = Of<typeof ScheduleRow>;

const MembersSide = z.strictObject({ count, first: z.array(z.string()).readonly() });

export const Rule = z.strictObject({
  rule: z.string(),
  reason: z
    .string()
    .nullable()
    .describe('What stands beside each of its orders; null where its file is gone or faulty.'),
  nextRuns: z
    .array(
      z.strictObject({
        at: time,
        period: z.string(),
        words: z
          .string()
          .describe('In the zone of the rule, with the offset, which changes with the clocks.'),
      }),
    )
    .describe('The next ten times of the schedule with their periods, whether it is approved or not.'),
  words: z.array(z.string()).describe('What it pays, to whom and how much at most.'),
  approved: Said.extend({
    asked: z.string().nullable().describe('Who asked for it, where a second person had to give it.'),
  }).nullable(),
  asked: Said.nullable().describe(
    'Who asked for the approval of this very text, while a second person has not given it.',
  ),
  needsSecond: z
    .boolean()
    .describe('Its realm requires a second person: one asks for the approval, another gives it.'),
  text: z
    .strictObject({
      content: z.string(),
      hash: z.string().describe('Of this text and these members, whatever becomes of the files meanwhile.'),
      difference: z
        .array(z.strictObject({ mark: z.enum([' ', '-', '+']), text: z.string() }))
        .nullable()
        .describe('To the text that was approved before, line by line; null where none was.'),
      members: z
        .strictObject({
          ...MembersSide.shape,
          changed: z.strictObject({ added: MembersSide, gone: MembersSide }).nullable(),
        })
        .describe(
          'Who is in the list, and what differs from the list that was approved last; null: none was, or one is too long to be kept. GET /api/rules/RULE/members.csv has all of them.',
        ),
    })
    .nullable()
    .describe('What an approval would be for; null where none is missing.'),
  standing: ScheduleRow.nullable().describe('Null where the store knows no schedule of it.'),
});
export type Rule = Of<typeof Rule>;
