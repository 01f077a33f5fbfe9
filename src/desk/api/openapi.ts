import { z } from 'zod';
import { CSRF_HEADER } from '../http/access/guard.js';
import type { Route } from '../http/route.js';

/** The OpenAPI document, made from the table of routes: nothing is described that is not served, and vice versa. */
export function openApiDocument(routes: readonly Route[], version: string) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'almoner desk',
      version,
      description:
        'What operators watch and steer. Times are ISO 8601 in UTC; sums of tokens are strings of digits; lists are paged with `cursor` and `next`.',
    },
    security: [{ token: [] }, { session: [], csrf: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A desk token (`almoner desk token add`).' },
        session: { type: 'apiKey', in: 'cookie', name: 'almoner-desk', description: 'Set by /api/login.' },
        csrf: { type: 'apiKey', in: 'header', name: CSRF_HEADER, description: 'With a session, on changes.' },
      },
      schemas: { ErrorReply: errorSchema },
    },
  };
}

function operation(route: Route) {
  const { params, query, access, reply, summary } = route;
  const isMedia = reply.includes('/');
  return {
    operationId: operationId(route),
    summary,
    ...(access === 'anyone' ? { security: [] } : { description: `Role: ${access}.` }),
    parameters: [...parameters(params, 'path'), ...parameters(query, 'query')],
    ...requestBody(route),
    responses: {
      '200': {
        description: isMedia ? 'The file or stream.' : reply,
        content: {
          [isMedia ? reply : 'application/json']: { schema: isMedia ? {} : { title: reply, type: 'object' } },
        },
      },
      default: {
        description: 'Anything from 400 up.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorReply' } } },
      },
    },
  };
}

function requestBody({ body, file }: Route) {
  if (file !== null) return { requestBody: { required: true, content: { [file]: {} } } };
  if (body === null) return {};
  return { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body) } } } };
}

export function operationId({ method, path }: Route): string {
  const words = path.split('/').filter((part) => part !== '' && part !== 'api');
  return [method.toLowerCase(), ...words.map((word) => word.replace(/^:/, 'by-'))]
    .join('-')
    .replaceAll(/[-.]+(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function parameters(schema: z.ZodObject | null, place: 'path' | 'query') {
  if (schema === null) return [];
  return Object.entries(schema.shape).map(([name, part]) => ({
    name,
    in: place,
    required: place === 'path',
    schema: part instanceof z.ZodType ? schemaOf(part) : {},
  }));
}

function schemaOf(schema: z.ZodType) {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return json;
}

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'next', 'details'],
      properties: {
        code: { type: 'string', description: 'Stable; docs/errors.md lists all.' },
        message: { type: 'string' },
        next: { type: 'string' },
        details: { type: 'array', items: { type: 'string' } },
      },
    },
  },
} as const;
