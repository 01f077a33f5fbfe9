import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openApiDocument } from '../../src/desk/http/openapi.js';
import { ROUTE_GROUPS } from '../../src/desk/http/routes.js';
import { OPENAPI } from '../../src/realm/server/openapi.js';

/** The two documents that almoner serves are clean, and say of every body what is in it. */
const schema = z.record(z.string(), z.unknown());
const contents = z.record(z.string(), z.object({ schema }));
const document = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        requestBody: z.object({ content: contents }).optional(),
        responses: z.record(z.string(), z.object({ content: contents.optional() })),
      }),
    ),
  ),
  components: z.object({ schemas: z.record(z.string(), schema) }),
});

describe.each([
  ['the desk', openApiDocument(ROUTE_GROUPS, '1.0.0')],
  ['the realm service', OPENAPI],
])('the OpenAPI document of %s', (_, served) => {
  test('has no errors and no warnings', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: JSON.stringify(served), config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
      [],
    );
  });

  test('says of every body what is in it', () => {
    const { paths, components } = document.parse(served);
    const named = (ref: unknown) => components.schemas[String(ref).replace('#/components/schemas/', '')];
    const vague: string[] = [];
    for (const [path, operations] of Object.entries(paths))
      for (const [method, { requestBody, responses }] of Object.entries(operations))
        for (const { content = {} } of [requestBody ?? {}, ...Object.values(responses)])
          for (const [type, { schema: told }] of Object.entries(content)) {
            const resolved = '$ref' in told ? (named(told.$ref) ?? {}) : told;
            const isFull =
              type === 'application/json' ? 'properties' in resolved : resolved.type === 'string';
            if (!isFull) vague.push(`${method} ${path} ${type}`);
          }
    expect(vague).toEqual([]);
  });
});

test('in the desk’s document every time is ISO 8601, and every sum of tokens is a string', () => {
  const { components } = document.parse(openApiDocument(ROUTE_GROUPS, '1.0.0'));
  const numbers: string[] = [];
  const look = (told: unknown, place: string): void => {
    if (typeof told !== 'object' || told === null) return;
    for (const [name, part] of Object.entries(told)) {
      const text = JSON.stringify(part);
      const isTime = /^(at|since|until)$|(At|Since|Until)$/.test(name) && place.endsWith('properties');
      const isSum = name === 'tokens' && place.endsWith('properties') && /"(number|integer)"/.test(text);
      if (isTime ? !text.includes('"date-time"') : isSum) numbers.push(`${place} ${name}`);
      look(part, `${place} ${name}`);
    }
  };
  look(components.schemas, '');
  // The tokens of one order are a number.
  const ofOneOrder = [
    'OrderRow',
    'ApprovalReply properties retry anyOf 0 items',
    'DoubtRow',
    'FindOrdersPage properties orders items',
    'ExplainReply',
    'RulePlanPage properties awards items',
  ];
  expect(
    numbers.filter((place) => !ofOneOrder.some((one) => place.startsWith(` ${one} properties`))),
  ).toEqual([]);
});
