import { Readable } from 'node:stream';
import type { z } from 'zod';
import { readStatement, statementCsv } from '../../../operations/totals/statement.js';
import { readStats } from '../../../operations/totals/stats.js';
import { statsCsv } from '../../../operations/totals/stats-csv.js';
import { shown } from '../../../operations/views/shown.js';
import * as api from '../../api/history.js';
import type { Desk } from '../desk.js';
import { Download, route } from '../route.js';

/** Routes for past payments. */
export const HISTORY_ROUTES = [
  route('GET /api/stats', 'viewer', {
    summary: 'What was paid by day, week or month, how the realm answered, and as many days before.',
    query: api.StatsQuery,
    reply: api.StatsReply,
    handle: async (desk, { query }) => shown(await statsOf(desk, query)),
  }),
  route('GET /api/stats.csv', 'viewer', {
    summary: 'One table of the same as CSV.',
    query: api.StatsFileQuery,
    reply: 'text/csv',
    async handle(desk, { query }) {
      const found = await statsOf(desk, query);
      return csvFile(`${query.of} ${found.from} to ${found.to}.csv`, statsCsv(found, query.of));
    },
  }),
  route('GET /api/statement', 'viewer', {
    summary: 'What was paid in a month, by realm and currency, over all batches.',
    query: api.StatementQuery,
    reply: api.StatementReply,
    handle: async (desk, { query }) => shown(await statementOf(desk, query)),
  }),
  route('GET /api/statement.csv', 'viewer', {
    summary: 'The same as CSV.',
    query: api.StatementQuery,
    reply: 'text/csv',
    handle: async (desk, { query }) =>
      csvFile(`statement ${query.month}.csv`, statementCsv(await statementOf(desk, query))),
  }),
];

function statsOf({ app }: Desk, query: z.infer<typeof api.StatsQuery>) {
  const { realm = null, by, since = null, until = null } = query;
  return readStats(app.scripts, { realm, by, since, until }, Date.now());
}

function statementOf({ app }: Desk, { month, realm }: z.infer<typeof api.StatementQuery>) {
  return readStatement(app.scripts, month, realm ?? null, Date.now());
}

function csvFile(name: string, text: string): Download {
  return new Download(name, 'text/csv; charset=utf-8', Readable.from([text]));
}
