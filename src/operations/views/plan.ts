import { z } from 'zod';
import { BatchState, byOp, Certainty, count, currency, ErrorCode, type Of, sum, time } from './values.js';

/** A plan: what an input would do. Planning sends nothing. */

const fileSha256 = z.string().nullable().describe('Hash of the bytes of the file; sealed with the batch.');
const memberTable = z
  .strictObject({ name: z.string(), sha256: z.string() })
  .nullable()
  .describe('The table that gave the members; sealed with the batch.');

/** Something wrong (fault) or odd (warning) in a file. */
export const FileFinding = z.strictObject({
  line: count.describe(
    'The line of the file, or the one that a row would have below a header; 0 where the whole input is meant.',
  ),
  column: z
    .string()
    .nullable()
    .describe('As the header spells it; null where the line or the input is meant.'),
  code: ErrorCode,
  message: z.string(),
});

const columns = z
  .strictObject({
    headerLine: count,
    headerBelow: count.nullable().describe('The line that looks like the header, where that one does not.'),
    kept: z
      .strictObject({
        who: z.string(),
        at: time,
        pairs: z.array(
          z.strictObject({
            map: z.string().describe('Such as `reference=Invoice`; nothing behind the `=`: no column.'),
            effect: z
              .enum(['fills', 'changes', 'refused', 'none'])
              .describe(
                '`fills`: it names a column that is needed and missing. `changes`: without it the file means something else. `refused`: a column bears the name, and the pair is not taken. `none`: the file is read so anyway.',
              ),
          }),
        ),
      })
      .nullable()
      .describe('The mapping that was kept under this header in this realm, and what it does now.'),
    found: z.array(
      z.strictObject({
        name: z.string(),
        meaning: z.string().nullable(),
        by: z.enum(['name', 'like', 'said', 'kept', 'profile', 'members']).nullable(),
        cells: z.array(z.string()).describe('The first ones.'),
      }),
    ),
  })
  .nullable()
  .describe('What the columns are taken for; null where no header could be read.');

/** The document of `plan --json`. */
export const FilePlan = z.strictObject({
  batch: z
    .string()
    .nullable()
    .describe('The batch that it would be, or is; null where the input could not be read to its end.'),
  realm: z.string(),
  rehearsal: z.boolean().describe('True on the embedded realm: no real points move.'),
  baseUrl: z.string(),
  currency,
  certainty: Certainty,
  existing: z
    .boolean()
    .describe(
      'These orders are a batch already. Paid again, it goes on, or is reported as done, and no order is paid twice.',
    ),
  existingState: BatchState.nullable(),
  source: z.string(),
  fileSha256,
  memberTable,
  columns,
  firstOrders: z.array(z.string()).describe('The first orders in words.'),
  rows: count,
  orders: byOp(count),
  tokens: byOp(sum),
  members: count,
  duplicates: count.describe('Rows whose reference another order holds already.'),
  duplicatesOf: z.array(z.string()).describe('The batches of those orders.'),
  looksPaid: z
    .array(z.strictObject({ batch: z.string(), rows: count, lines: z.string() }))
    .describe('Batches of the last 30 days that hold rows of this input which have no reference.'),
  invalid: count,
  faults: z.array(FileFinding).describe('The first thousand; with any, the input is refused as a whole.'),
  faultCount: count,
  warnings: z.array(FileFinding),
  requests: count,
  seconds: z.number().describe('The time needed at the realm’s pace.'),
  startAt: time.nullable().describe('When it is to begin; null: at once.'),
  endsAt: time.describe('With the quiet hours in between.'),
  begins: z.string().nullable().describe('When it is to begin, in the realm’s zone.'),
  ends: z.string().describe('When it would be over, in the realm’s zone.'),
  timezone: z.string(),
  quietHours: z.array(z.string()),
  payable: z.strictObject({
    orders: count,
    tokens: sum.describe('The sum of absolute amounts; typed to confirm.'),
    amounts: byOp(sum)
      .nullable()
      .describe('What the orders do; null for the rest of a batch that does several things.'),
  }),
  books: z
    .strictObject({ batches: count, paid: count, tokens: sum, lastAt: time.nullable() })
    .describe(
      'What this ledger has paid in this realm before; nothing means a new data folder, or a wrong one.',
    ),
  dayLeft: sum.nullable().describe('What is left of the realm’s cap for today; null where there is none.'),
  netEffects: z
    .array(z.strictObject({ member: z.string(), rows: count, net: sum }))
    .describe('The members with most rows, where some have more than one.'),
});
export type FilePlan = Of<typeof FilePlan>;

/** A finding in the input of a program. */
export const Finding = FileFinding.extend({
  row: count
    .nullable()
    .describe('The index of the row in `rows`; null for files, and where all rows are meant.'),
}).describe('Something wrong (fault) or odd (warning) with the input.');
export type Finding = Of<typeof Finding>;

/** The plan of a program's input. */
export const Plan = FilePlan.extend({
  faults: z.array(Finding).describe('The first thousand; with any, `pay` and `enqueue` refuse the input.'),
  warnings: z.array(Finding),
}).describe('What an input would do. Planning sends nothing.');
export type Plan = Of<typeof Plan>;
