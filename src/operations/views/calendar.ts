import { z } from 'zod';
import { count, type Of, sum, time } from './values.js';

/** The calendar of the schedules: missed times, what became of past ones, and coming ones. */

const About = { realm: z.string(), rule: z.string(), at: time, period: z.string() };
const Sum = z.strictObject({ orders: count, tokens: sum });

const Missed = z
  .strictObject({
    ...About,
    zone: z.string(),
    why: z.string(),
    notedAt: time,
    held: sum.describe(
      'Tokens that orders of its period hold, paid or on their way, by whichever run they came.',
    ),
    mayBeForgotten: z
      .boolean()
      .describe('The store was rolled back after that time, and may have forgotten its run.'),
    makeUp: z
      .string()
      .nullable()
      .describe('The command that pays it now; null where no rule of that name has that period any more.'),
    letGo: z.string().describe('The command that takes it off the list.'),
  })
  .describe('A time that paid nobody because nothing ran. It stays until a person takes it off.');

const Past = z.strictObject({
  ...About,
  outcome: z
    .string()
    .describe('The state of its batch; else what became of it, such as `nothing`, `missed`, `let go`.'),
  message: z.string().nullable(),
  batch: z.string().nullable(),
  sums: z.strictObject({ paid: Sum, refused: Sum, doubt: Sum, open: Sum }).nullable(),
  dismissed: z
    .strictObject({ who: z.string(), at: time, why: z.string().nullable(), batch: z.string().nullable() })
    .nullable()
    .describe('Who took it off the list of missed times; `batch`: the one that makes it up.'),
});

const Coming = z.strictObject({
  ...About,
  state: z.enum(['runs', 'paused', 'skipped', 'waits for approval']),
});

export const Calendar = z.strictObject({
  now: time,
  missed: z.array(Missed),
  older: z
    .array(z.strictObject({ realm: z.string(), rule: z.string(), times: count }))
    .describe('Missed times that have left a list because it was full.'),
  unserved: z
    .array(z.strictObject({ realm: z.string(), rule: z.string(), message: z.string() }))
    .describe('Times that have come while no process serves.'),
  past: z.array(Past).describe('Newest first.'),
  next: time.nullable().describe('The next page of the past begins before it; null is the end.'),
  coming: z.array(Coming).describe('Of the next 31 days; at most 40 of a rule.'),
});
export type Calendar = Of<typeof Calendar>;

export const MissedCount = z
  .strictObject({
    realm: z.string(),
    times: count,
    since: time.nullable().describe('The oldest that is listed.'),
    rules: z.array(z.strictObject({ rule: z.string(), times: count })),
  })
  .describe('How many missed times stand on the list of a realm.');
export type MissedCount = Of<typeof MissedCount>;
