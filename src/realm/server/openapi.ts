import { MEMBER_ID as MEMBER_ID_SYNTAX } from '../../core/ids.js';

/**
 * The patterns and parameters of the OpenAPI document that the service serves. The document is written by hand,
 * because it is a promise to callers and not a by-product of the code. A test holds its operations equal to the route
 * table.
 */

const MEMBER_ID_PATTERN = MEMBER_ID_SYNTAX.source;

const REALM_ID = { name: 'realmID', in: 'path', required: true, schema: { type: 'string', maxLength: 128 } };
const MEMBER_ID = {
  name: 'memberID',
  in: 'path',
  required: true,
  description: 'Decimal digits, exact beyond 2^53.',
  schema: { type: 'string', pattern: MEMBER_ID_PATTERN },
};
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A quoted RFC 8941 string or a bare token. The same key with the same content gets the first answer again, with the header Idempotency-Replayed: true. Kept for at least 48 hours or 1,000,000 newer changes.',
  schema: { type: 'string', maxLength: 255 },
};

const integer = { type: 'integer', format: 'int64' };
const facts = { type: 'object', additionalProperties: true };
const texts = { type: 'array', items: { type: 'string' } };
const error = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});
const json = (description: string, properties: Record<string, unknown>) => ({
  description,
  content: {
    'application/json': { schema: { type: 'object', required: Object.keys(properties), properties } },
  },
});
const body = (required: string[], properties: Record<string, unknown>) => ({
  required: true,
  content: { 'application/json': { schema: { type: 'object', required, properties } } },
});

const FOR_ALL = {
  '400': error('The request cannot be read; the message names the field.'),
  '401': error('The API key is missing, incorrect or does not exist.'),
  '403': error('The API key belongs to a different realm than the one addressed.'),
  '429': error('More requests than the realm allows in its sliding window; see Retry-After.'),
  '503': error('The store failed; details.applied says "no" or "unknown".'),
};
const FOR_BODIES = {
  '413': error('The body is larger than 262144 bytes.'),
  '415': error('The body is not application/json.'),
};
const FOR_WRITES = {
  ...FOR_ALL,
  ...FOR_BODIES,
  '409': error('A request with this Idempotency-Key is still running.'),
  '422': error(
    'The balance is too small (details.balance holds it) or would leave 2^53-1, or the Idempotency-Key was used for other content. Nothing was changed.',
  ),
};
const NO_MEMBER = error('The realm has no such member.');

const tokens = (minimum: number) => ({
  ...integer,
  minimum,
  maximum: 1_000_000_000_000_000,
  not: { const: 0 },
});
const realmPointId = {
  type: 'string',
  default: 'default',
  description: 'The currency: one of those that stand in `balances` of a member.',
};

export const OPENAPI = {
  openapi: '3.1.0',
  info: {
    title: 'Realm member and points interface',
    version: '4',
    description: 'Members, wallets and points of a realm. See docs/reference/realm-service.md.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/api/v4' }],
  security: [{ bearer: [] }, { bareKey: [] }],
  paths: {
    '/realms/{realmID}/members/{memberID}': {
      get: {
        operationId: 'getMember',
        summary: "Get a realm member's data",
        parameters: [REALM_ID, MEMBER_ID],
        responses: {
          '200': json('The member.', {
            id: { type: 'string' },
            realmId: { type: 'string' },
            tokenBalance: integer,
            balances: { type: 'object', additionalProperties: integer },
            wallets: texts,
            attributes: facts,
            createdAt: { type: 'string', format: 'date-time' },
          }),
          ...FOR_ALL,
          '404': NO_MEMBER,
        },
      },
    },
    '/realms/{realmID}/web3/members/{memberID}': {
      get: {
        operationId: 'getWeb3',
        summary: 'Get web3 data for a realm member',
        parameters: [REALM_ID, MEMBER_ID],
        responses: {
          '200': json('The web3 data; further facts may stand beside these fields.', {
            id: { type: 'string' },
            realmId: { type: 'string' },
            wallets: texts,
            nfts: {},
            chains: {},
          }),
          ...FOR_ALL,
          '404': NO_MEMBER,
        },
      },
    },
    '/realms/{realmID}/members/includes': {
      get: {
        operationId: 'checkWallets',
        summary: 'Check whether a list of wallets is inside the realm',
        description: 'A GET that carries a body. EVM addresses are compared without regard to case.',
        parameters: [REALM_ID],
        requestBody: body(['wallets'], { wallets: { ...texts, maxItems: 1_000 } }),
        responses: {
          '200': json('For each wallet, as spelled in the request, whether it belongs to a member.', {
            wallets: { type: 'object', additionalProperties: { type: 'boolean' } },
          }),
          ...FOR_ALL,
          ...FOR_BODIES,
        },
      },
    },
    '/realms/{realmID}/members/{memberID}/tokenBalance': {
      patch: {
        operationId: 'changeBalance',
        summary: 'Add or subtract points for a member',
        description: 'Positive tokens add, negative tokens subtract.',
        parameters: [REALM_ID, MEMBER_ID, IDEMPOTENCY_KEY],
        requestBody: body(['tokens'], { tokens: tokens(-1_000_000_000_000_000), realmPointId }),
        responses: {
          '200': json('Applied.', { newBalance: integer }),
          ...FOR_WRITES,
          '404': NO_MEMBER,
        },
      },
    },
    '/realms/{realmID}/members/{memberID}/transfer': {
      patch: {
        operationId: 'transfer',
        summary: 'Transfer points from one member to another',
        description: 'Whole or not at all.',
        parameters: [REALM_ID, MEMBER_ID, IDEMPOTENCY_KEY],
        requestBody: body(['recipientId', 'tokens'], {
          recipientId: {
            anyOf: [
              { type: 'integer', minimum: 0 },
              { type: 'string', pattern: MEMBER_ID_PATTERN },
            ],
          },
          tokens: tokens(1),
          realmPointId,
        }),
        responses: {
          '200': json('Applied.', {
            message: { type: 'string' },
            newBalance: integer,
            recipientBalance: integer,
          }),
          ...FOR_WRITES,
          '404': error('The realm has no such member or no such recipient.'),
        },
      },
    },
  },
  components: {
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      bareKey: { type: 'apiKey', in: 'header', name: 'Authorization' },
    },
    schemas: {
      Error: {
        type: 'object',
        required: ['error', 'message', 'requestId'],
        properties: {
          error: { type: 'string', description: 'A stable name.' },
          message: { type: 'string', description: 'A sentence for people.' },
          details: { type: 'object', additionalProperties: true },
          requestId: { type: 'string', description: 'Also in the header X-Request-Id.' },
        },
      },
    },
  },
} as const;
