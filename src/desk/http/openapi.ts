import { z } from 'zod';
import { ErrorCode, Reason } from '../../operations/views/values.js';
import * as approvals from '../api/approvals.js';
import * as batches from '../api/batches.js';
import * as calendar from '../api/calendar.js';
import * as history from '../api/history.js';
import * as imports from '../api/imports.js';
import * as notices from '../api/notices.js';
import * as orders from '../api/orders.js';
import * as overview from '../api/overview.js';
import * as people from '../api/people.js';
import * as recovery from '../api/recovery.js';
import * as rules from '../api/rules.js';
import * as session from '../api/session.js';
import { CSRF_HEADER } from './access/guard.js';
import type { Route, RouteGroup } from './route.js';

/** Makes the OpenAPI document from the table of routes, so that it describes exactly the served routes. */
export function openApiDocument(groups: readonly RouteGroup[], version: string) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { tag, routes } of groups)
    for (const route of routes) {
      const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: { tags: [tag], ...operation(route) } };
    }
  return {
    openapi: '3.1.0',
    info: {
      title: 'almoner desk',
      version,
      description:
        'What operators watch and steer. Times are ISO 8601 in UTC; sums of tokens are strings of digits; lists are paged with `cursor` and `next`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The desk that serves this document.' }],
    security: [{ token: [] }, { session: [], csrf: [] }],
    tags: groups.map(({ tag, description }) => ({ name: tag, description })),
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A desk token (`almoner desk token add`).' },
        session: { type: 'apiKey', in: 'cookie', name: 'almoner-desk', description: 'Set by /api/login.' },
        csrf: { type: 'apiKey', in: 'header', name: CSRF_HEADER, description: 'With a session, on changes.' },
      },
      schemas: componentSchemas(),
      responses: {
        Refused: errorResponse(
          'Not understood, not allowed, not there, or not in this state. Nothing was done.',
        ),
        Failed: errorResponse('The store or the realm does not answer, or the desk failed.'),
      },
    },
  };
}

/** One route as an OpenAPI operation. */
function operation(route: Route) {
  const { params, query, access, summary } = route;
  return {
    operationId: operationId(route),
    summary,
    ...(access === 'anyone' ? { security: [] } : { description: `Role: ${access}.` }),
    parameters: [...parameters(params, 'path'), ...parameters(query, 'query')],
    ...requestBody(route),
    responses: {
      '200': success(route),
      '4XX': { $ref: '#/components/responses/Refused' },
      '5XX': { $ref: '#/components/responses/Failed' },
    },
  };
}

function success({ reply }: Route) {
  return typeof reply === 'string'
    ? { description: 'The file or stream.', content: { [reply]: { schema: { type: 'string' } } } }
    : { description: idOf(reply), content: { 'application/json': { schema: reference(reply) } } };
}

function requestBody({ body, file }: Route) {
  if (file !== undefined)
    return { requestBody: { required: true, content: { [file]: { schema: { type: 'string' } } } } };
  if (body === undefined) return {};
  const required = !body.safeParse(undefined).success;
  return { requestBody: { required, content: { 'application/json': { schema: reference(body) } } } };
}

function operationId({ method, path }: Route): string {
  const words = path.split('/').filter((part) => part !== '' && part !== 'api');
  return [method.toLowerCase(), ...words.map((word) => word.replace(/^:/, 'by-'))]
    .join('-')
    .replaceAll(/[-.]+(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function parameters(schema: z.ZodObject | undefined, place: 'path' | 'query') {
  return Object.entries(schema?.shape ?? {}).map(([name, part]) => {
    const { $schema: _, description, ...json } = z.toJSONSchema(part, OPTIONS);
    const told = description === undefined ? {} : { description };
    const required = !z.safeParse(part, undefined).success;
    return { name, in: place, required, ...told, schema: json };
  });
}

/** The reply of every refusal: code, message and next step. */
function errorResponse(description: string) {
  return { description, content: { 'application/json': { schema: reference(session.ErrorReply) } } };
}

/** Every body under its exported name. */
const bodies = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries({
  ...approvals,
  ...batches,
  ...calendar,
  ...history,
  ...imports,
  ...notices,
  ...orders,
  ...overview,
  ...people,
  ...recovery,
  ...rules,
  ...session,
}))
  if (!/(Params|Query)$/.test(id)) bodies.add(schema, { id });
for (const [id, schema] of Object.entries({ ErrorCode, Reason })) bodies.add(schema, { id });

const OPTIONS: Parameters<typeof z.toJSONSchema>[1] = {
  io: 'input',
  // The pattern of a date-time is a page long and adds nothing to the format.
  override({ jsonSchema }) {
    if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  },
};

/** All bodies as shared schemas, so that operations refer to them by name. */
function componentSchemas() {
  const { schemas } = z.toJSONSchema(bodies, { ...OPTIONS, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _, $id: _id, ...schema }]) => [id, schema]),
  );
}

function idOf(schema: z.ZodType): string {
  const id = bodies.get(schema)?.id;
  if (id === undefined) throw new Error('a body of the API is not exported by a file of src/desk/api');
  return id;
}

function reference(schema: z.ZodType) {
  return { $ref: `#/components/schemas/${idOf(schema)}` };
}
