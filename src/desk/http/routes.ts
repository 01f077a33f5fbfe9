import { openApiDocument } from '../api/openapi.js';
import { type Route, route } from './route.js';
import { BATCH_ROUTES } from './routes/batch-routes.js';
import { IMPORT_ROUTES } from './routes/import-routes.js';
import { ORDER_ROUTES } from './routes/order-routes.js';
import { OVERVIEW_ROUTES } from './routes/overview-routes.js';
import { RULE_ROUTES } from './routes/rule-routes.js';
import { SESSION_ROUTES } from './routes/session-routes.js';

/** Every route of the API, in one flat table; the document describes the table, itself included. */
export const ROUTES: readonly Route[] = [
  ...SESSION_ROUTES,
  ...OVERVIEW_ROUTES,
  ...BATCH_ROUTES,
  ...ORDER_ROUTES,
  ...IMPORT_ROUTES,
  ...RULE_ROUTES,
  route('GET /api/openapi.json', 'viewer', {
    summary: 'This document.',
    reply: 'OpenAPI',
    handle: (desk) => openApiDocument(ROUTES, desk.parts.version),
  }),
];
