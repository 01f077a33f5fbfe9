import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { formatRate } from '../../src/core/profile.js';
import { VARIABLES } from '../../src/runtime/config/layers.js';
import { configSchema } from '../../src/runtime/config/settings.js';

const isFunction = (value: unknown) => typeof value === 'function';
const script = z.object({
  unsaid: z.custom<(schema: z.ZodType) => string[]>(isFunction),
  settingsOf: z.custom<(schema: z.ZodType) => { name: string }[]>(isFunction),
  configurationPage: z.custom<(given: unknown) => string>(isFunction),
});
const { unsaid, settingsOf, configurationPage } = script.parse(
  await import(resolve('scripts/write-config-docs.mjs')),
);

test('every setting is described in the schema, with an example that the schema takes', () => {
  expect(unsaid(configSchema)).toEqual([]);
  expect(settingsOf(configSchema).length).toBeGreaterThan(50);
});

test('a setting that is not described is named, with where to describe it', () => {
  const undescribed = configSchema.extend({ newThing: configSchema.shape.retentionDays.unwrap() });
  expect(unsaid(undescribed)).toEqual([
    expect.stringMatching(/^newThing has no description: write \.meta\(said\(.*src\/runtime\/config$/),
  ]);
});

test('docs/reference/configuration.md says exactly what the schema says (node scripts/write-config-docs.mjs writes it)', () => {
  const page = configurationPage({ configSchema, variables: VARIABLES, rateWords: formatRate });
  expect(readFileSync('docs/reference/configuration.md', 'utf8')).toBe(page);
});
