import { z } from 'zod';
import { isMemberId, parseOrderId } from '../../../core/ids.js';
import { everyBatch, findBatch } from '../../../ledger/index.js';
import type { FindReply } from '../../api/index.js';
import { cursor, limit } from '../../api/values.js';
import { sealedBatch } from '../../live/batch-page.js';
import { OpenLine, route } from '../route.js';

/** The front page, what keeps it live, its search box, and the desk's own audit and tasks. */
export const OVERVIEW_ROUTES = [
  route('GET /api/overview', 'viewer', {
    summary: 'Realms, running batches, what wants attention, workers and the store.',
    reply: 'Overview',
    handle: async (desk) => (await desk.board.look()).overview,
  }),
  route('GET /api/events', 'viewer', {
    summary: 'The same, live: events `overview`, `batch` (with ?batch) and `bye`.',
    query: z.object({ batch: z.string().min(1).max(80).optional() }),
    reply: 'text/event-stream',
    async handle(desk, { query: { batch } }) {
      if (batch === undefined) return new OpenLine(null);
      // Looked for while the answer can still be an error; a line that is open has no way to say 404.
      const ref = await findBatch(desk.parts.scripts, batch);
      await sealedBatch(ref);
      return new OpenLine(ref.id);
    },
  }),
  route('GET /api/find', 'viewer', {
    summary: 'What a text may mean: a batch by its beginning, an order, a member.',
    query: z.object({ q: z.string().trim().min(1).max(100) }),
    reply: 'FindReply',
    async handle(desk, { query: { q } }): Promise<FindReply> {
      const refs = await everyBatch(desk.parts.scripts);
      const wanted = parseOrderId(q);
      const batches = refs.filter(({ id }) => id.startsWith(q) && q.length >= 2).slice(-5);
      const owner = refs.find(({ id }) => id === wanted?.batch);
      return {
        found: [
          ...batches.map((ref) => ({
            kind: 'batch' as const,
            id: ref.id,
            note: `realm ${ref.ledger.realm.name}`,
          })),
          ...(owner === undefined ? [] : [{ kind: 'order' as const, id: q, note: `batch ${owner.id}` }]),
          ...(isMemberId(q)
            ? [{ kind: 'member' as const, id: q, note: 'everything that touched them' }]
            : []),
        ],
      };
    },
  }),
  route('GET /api/tasks', 'viewer', {
    summary: 'What the desk is busy with, newest first.',
    reply: 'TasksReply',
    handle: (desk) => ({ tasks: desk.tasks.list() }),
  }),
  route('GET /api/tasks/:task', 'viewer', {
    summary: 'How far one task is.',
    params: z.object({ task: z.string().max(40) }),
    reply: 'TaskReply',
    handle: (desk, { params }) => desk.tasks.find(params.task),
  }),
  route('GET /api/audit', 'viewer', {
    summary: 'Who did what at the desk, newest first.',
    query: z.object({
      cursor: cursor.regex(/^\d{1,9}(\.\d{1,9}){2}$/).optional(),
      limit: limit(200).default(100),
    }),
    reply: 'AuditPage',
    handle: (desk, { query }) => desk.audit.page(query.cursor, query.limit),
  }),
];
