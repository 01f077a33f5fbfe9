import { z } from 'zod';
import { FIND_BY } from '../../core/find-meanings.js';
import { WAITING_WHYS } from '../../core/may-send.js';
import { BatchState, byOp, count, currency, type Of, OrderState, Rate, Reason, sum, time } from './values.js';

/** A batch, as every face shows it. */

export const Waiting = z
  .strictObject({
    why: z.enum(WAITING_WHYS),
    message: z.string(),
    orders: count,
    tokens: sum,
    since: time,
    until: time
      .nullable()
      .describe('When it ends or is looked at again by itself; null where that cannot be known.'),
    next: z.string().nullable().describe('The command that ends it; null where nothing needs to be done.'),
    session: z
      .string()
      .nullable()
      .describe('The sending process that holds the orders, where that is the cause.'),
  })
  .describe('Orders that are neither final nor moving.');

export const BatchProgress = z.strictObject({
  batch: z.string(),
  realm: z.string(),
  rehearsal: z.boolean().describe('True on the embedded realm: no real points move.'),
  currency,
  state: BatchState,
  reason: Reason.nullable().describe('Why it stands still, where it does.'),
  source: z.string().describe('What people know it by: the name of its file, rows or rule.'),
  rows: count,
  counts: z
    .partialRecord(OrderState, count)
    .describe('How many orders are in each state; states without any are left out.'),
  tokens: z
    .partialRecord(OrderState, sum)
    .describe('Their sums of absolute amounts, whatever the orders do.'),
  amounts: byOp(sum).describe('What all its orders would do.'),
  requests: count,
  retries: count,
  rateLimited: count,
  waiting: z.array(Waiting).describe('Orders that are neither final nor moving, by cause.'),
  notes: z
    .array(z.string())
    .describe(
      'What must be known beside the numbers: read-back ended, orders that may have been paid twice.',
    ),
  again: z.string().nullable().describe('The label under which the same orders are paid once more.'),
  worker: z
    .enum(['run', 'workers'])
    .describe(
      'Which processes send its orders: the workers, or a run of its own. A retry hands a run to the workers.',
    ),
  recovered: z
    .boolean()
    .describe('It holds orders that journals know and the store had forgotten; its file may have had more.'),
  archived: z.boolean().describe('It is over and has left the store for its archive.'),
  createdAt: time,
  createdBy: z.string(),
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
});
export type BatchProgress = Of<typeof BatchProgress>;

const etaSeconds = z
  .number()
  .nullable()
  .describe('Seconds to the end; null where it depends on a person, or cannot be known.');

/** As `run`, `import`, `rehearse` and `status` print it. */
export const BatchStatus = BatchProgress.extend({
  existing: z.boolean().describe('These orders were a batch already.'),
  etaSeconds,
  report: z.string().nullable().describe('The folder of the report, where this call wrote one.'),
  deadGone: z
    .strictObject({
      discarded: count,
      replaced: count,
      into: z.array(z.string()).describe('The batches whose rows stand in for them.'),
    })
    .nullable()
    .describe('Where its dead letters went; null where it has none, or one is left to be mended or retried.'),
});
export type BatchStatus = Of<typeof BatchStatus>;

/** As the desk watches it. */
export const BatchSummary = BatchProgress.extend({
  etaSeconds,
  perSecond: z.number().nullable().describe('Orders settled per second of late; null while it does not run.'),
  allowed: Rate.nullable().describe('The configured rate of its realm.'),
});
export type BatchSummary = Of<typeof BatchSummary>;

export const Steered = z
  .strictObject({
    batch: z.string(),
    changed: z.boolean().describe('False: it was as asked already.'),
    status: BatchStatus.nullable().describe('Null for an import that had not finished and was taken back.'),
  })
  .describe('What pausing, resuming or cancelling did.');

export const FoundBy = z.enum(FIND_BY);
export const foundBy = z.array(FoundBy).describe('Which parts of it the text matched.');

const { batch, realm, rehearsal, source, state, counts, rows, createdAt, archived } = BatchProgress.shape;
export const FoundBatch = z
  .strictObject({
    kind: z.literal('batch'),
    by: foundBy,
    ...{ batch, realm, rehearsal, source, state, counts, rows, createdAt, archived },
  })
  .describe('A batch that a search found.');
export type FoundBatch = Of<typeof FoundBatch>;

export const Report = z.strictObject({ folder: z.string(), files: z.array(z.string()) });
