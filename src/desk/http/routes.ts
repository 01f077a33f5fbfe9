import { OpenApiDocument } from '../api/overview.js';
import { openApiDocument } from './openapi.js';
import { type Route, type RouteGroup, route } from './route.js';
import { APPROVAL_ROUTES } from './routes/approvals.js';
import { BATCH_ROUTES } from './routes/batches.js';
import { HISTORY_ROUTES } from './routes/history.js';
import { IMPORT_ROUTES } from './routes/imports.js';
import { ORDER_ROUTES } from './routes/orders.js';
import { NOTICE_ROUTES, OVERVIEW_ROUTES } from './routes/overview.js';
import { RECOVERY_ROUTES } from './routes/recovery.js';
import { RULE_ROUTES } from './routes/rules.js';
import { PEOPLE_ROUTES, SESSION_ROUTES } from './routes/session.js';

/** Every route of the API, by subject. The OpenAPI document describes this table, including its own route. */
export const ROUTE_GROUPS: readonly RouteGroup[] = [
  { tag: 'Session', description: 'Signing in and out.', routes: SESSION_ROUTES },
  {
    tag: 'Overview',
    description: 'The front page, what keeps it live, its search box, and the desk’s own tasks and audit.',
    routes: [
      ...OVERVIEW_ROUTES,
      route('GET /api/openapi.json', 'viewer', {
        summary: 'This document.',
        reply: OpenApiDocument,
        handle: (desk) => openApiDocument(ROUTE_GROUPS, desk.version),
      }),
    ],
  },
  {
    tag: 'History',
    description: 'What was paid by day, week and month, and the statement of a month.',
    routes: HISTORY_ROUTES,
  },
  { tag: 'Batches', description: 'Looked at, steered, reported, taken back.', routes: BATCH_ROUTES },
  {
    tag: 'Orders',
    description: 'Single orders, dead letters, doubts, and everything about a member.',
    routes: ORDER_ROUTES,
  },
  {
    tag: 'Imports',
    description: 'From a file to a batch: upload, preview, and a start that repeats what the person saw.',
    routes: IMPORT_ROUTES,
  },
  {
    tag: 'Rules',
    description: 'Reward rules: listed, planned, run from exactly that plan, and explained.',
    routes: RULE_ROUTES,
  },
  {
    tag: 'Approvals',
    description: 'What waits for a second person, as it was prepared, and what they say to it.',
    routes: APPROVAL_ROUTES,
  },
  {
    tag: 'Recovery',
    description:
      'After the store was restarted, failed over or restored: what happened, and what a person decides.',
    routes: RECOVERY_ROUTES,
  },
  { tag: 'People', description: 'Who has a token, and what it lets them do.', routes: PEOPLE_ROUTES },
  {
    tag: 'Notices',
    description: 'Messages to the outside, and their delivery.',
    routes: NOTICE_ROUTES,
  },
];

export const ROUTES: readonly Route[] = ROUTE_GROUPS.flatMap(({ routes }) => routes);
