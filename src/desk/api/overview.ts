import { z } from 'zod';
import { NOTICE_EVENTS } from '../../core/notice-events.js';
import { BatchSummary } from '../../operations/views/batch.js';
import { MissedCount } from '../../operations/views/calendar.js';
import { Pace } from '../../operations/views/realm.js';
import { ScheduleRow } from '../../operations/views/rule.js';
import {
  Certainty,
  count,
  type Of,
  OrderState,
  Rate,
  Reason,
  sum,
  time,
} from '../../operations/views/values.js';
import { batch, cursor, limit, name, next } from './values.js';

/** The front page and what keeps it live, and the desk's own tasks and audit. */

export const RealmParams = z.object({ realm: name });
export { Pace as PaceReply };

export const RealmCard = z.strictObject({
  realm: z.string(),
  realmId: z.string(),
  baseUrl: z.string(),
  rehearsal: z.boolean(),
  configured: z
    .boolean()
    .describe(
      'False for realms of the books that the configuration no longer names: they can only be looked at.',
    ),
  certainty: Certainty.nullable(),
  currency: z.string().nullable(),
  currencies: z.array(z.string()).describe('Others of which one may be chosen for a file or a rule.'),
  secondPerson: z
    .string()
    .nullable()
    .describe('When a second person has to say go, in words; null: none is required.'),
  halt: Reason.nullable(),
  breakerSince: time.nullable(),
  fence: z
    .strictObject({ armed: z.boolean(), reason: Reason.nullable() })
    .nullable()
    .describe(
      'While not armed nothing is sent. Without a reason nobody has sent since the store started, and the next sender arms it by itself; with one a person must act. Null: nothing was ever sent.',
    ),
  waitsForPersonSince: time
    .nullable()
    .describe('First sends wait since then, after a rollback of the store, until a person resumes them.'),
  pace: Pace.omit({ realm: true }).extend({
    allowed: Rate.nullable().describe(
      'What holds now: the configured rate, or a lower one that the realm’s answers taught.',
    ),
    recent: z
      .strictObject({ sliceMs: count, endsAt: time, requests: z.array(z.number()) })
      .describe('Requests per slice, oldest first, up to ten minutes: for the chart.'),
  }),
  waiting: count.describe('Orders that wait for a worker.'),
  queued: count.describe('Jobs now in the realm’s queue: the window.'),
  dead: count.describe(
    'Dead letters that wait for a person: none that was discarded or put into another file.',
  ),
  doubts: count,
  unsettledMark: z
    .string()
    .describe('Another one whenever dead letters or doubts have come, gone or been dealt with.'),
  oldestUnsettledAt: time.nullable(),
});
export type RealmCard = Of<typeof RealmCard>;

const WorkerRow = z.strictObject({
  session: z.string(),
  kind: z.string(),
  machine: z.string(),
  state: z
    .enum(['alive', 'dead', 'elsewhere', 'silent'])
    .describe('`silent`: it gives no sign, and whether it lives is not known.'),
  realms: z.array(z.string()),
});
export type WorkerRow = Of<typeof WorkerRow>;

export const TaskReply = z
  .strictObject({
    task: z.string(),
    what: z.string(),
    who: z.string(),
    state: z.enum(['running', 'done', 'failed']),
    total: count.nullable(),
    done: count,
    refused: z
      .array(z.strictObject({ order: z.string(), why: z.string() }))
      .describe('Orders that were left as they were, with the reason; the first hundred.'),
    refusedCount: count,
    error: Reason.nullable(),
    became: z
      .strictObject({
        counts: z.partialRecord(OrderState, count),
        unpaid: z
          .array(z.strictObject({ order: z.string(), state: OrderState, why: z.string() }))
          .describe('Those that ended without being paid; the first hundred.'),
      })
      .nullable()
      .describe('Of a retry: what became of the orders since; null before they are back to work.'),
    result: z.strictObject({ batch: z.string().nullable(), plan: z.string().nullable() }),
    startedAt: time,
    endedAt: time.nullable(),
  })
  .describe('Something that takes longer than a request: started by a change, looked at until it is over.');
export type TaskReply = Of<typeof TaskReply>;
export const TaskParams = z.object({ task: z.string().max(40) });
export const TasksReply = z.strictObject({ tasks: z.array(TaskReply) });

export const Matter = z
  .strictObject({
    event: z.enum(NOTICE_EVENTS),
    subject: z.string().describe('What it is about, the same while it stands.'),
    realm: z.string().nullable(),
    batch: z.string().nullable(),
    rule: z.string().nullable(),
    message: z.string(),
    next: z.string().nullable().describe('The command that ends it.'),
    since: time,
  })
  .describe('Something that waits for a person.');
export type Matter = Of<typeof Matter>;

export const Overview = z.strictObject({
  at: time.describe('Of the picture: with `store.up` false, of the last one that could be taken.'),
  store: z.strictObject({
    up: z.boolean(),
    embedded: z.boolean(),
    address: z.string(),
    latencyMs: z.number().nullable(),
    usedBytes: count.nullable(),
    version: z.string().nullable(),
  }),
  workers: z.strictObject({ alive: count, processes: z.array(WorkerRow) }),
  noWorker: z.boolean().describe('Orders wait and no process is there to send them.'),
  realms: z.array(RealmCard),
  batches: z.array(BatchSummary).describe('All that are not over, then the newest that are: at most 50.'),
  matters: z.array(Matter).describe('Everything that waits for a person.'),
  schedules: z.array(ScheduleRow).describe('Every schedule of the configured realms, good or not.'),
  missed: z.array(MissedCount).describe('Scheduled times that paid nobody, by configured realm.'),
  tasks: z.array(TaskReply),
});
export type Overview = Of<typeof Overview>;

/** The event `changes`: parts of the overview that are other ones now. */
export type OverviewChanges = Partial<Omit<Overview, 'at' | 'batches'>> & {
  readonly at: string;
  readonly batches: {
    /** Each as realm/batch. */
    readonly order: readonly string[];
    readonly changed: readonly BatchSummary[];
  };
};

/**
 * The events of `/api/events`, at once and then whenever something changed, at most once a second: `overview` once, then
 * `changes` to it; with ?batch=B also `batch` (its reply), and `bye` when the session is over, so that the login form is shown. A
 * comment line every 15 seconds keeps the line open. After a break the browser connects again and gets the whole
 * picture anew.
 */
export const EventsQuery = z.object({ batch: batch.optional() });

const day = z.iso.date().optional();
const auditFilter = {
  text: z.string().trim().min(1).max(100).optional().describe('Somewhere in who, what, why or batch.'),
  who: z.string().trim().min(1).max(100).optional(),
  from: day.describe('A day of UTC, such as 2026-11-03; it belongs to it.'),
  to: day,
};
export const AuditFileQuery = z.object(auditFilter);
export const AuditQuery = z.object({
  ...auditFilter,
  cursor: cursor.regex(/^\d{1,9}(\.\d{1,9}){2}$/).optional(),
  limit: limit(200).default(100),
});
export const AuditPage = z.strictObject({
  entries: z.array(
    z.strictObject({
      at: time,
      who: z.string(),
      what: z.string(),
      why: z.string().nullable(),
      batch: z.string().nullable(),
      orders: count.nullable().describe('How many orders it was about, where it was about some.'),
      tokens: sum.nullable().describe('Their sum of tokens.'),
    }),
  ),
  next,
});
export type AuditPage = Of<typeof AuditPage>;

export const OpenApiDocument = z.looseObject({ openapi: z.string() });
