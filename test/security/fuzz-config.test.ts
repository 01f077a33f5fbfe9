import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAlmonerError } from '../../src/core/errors/error.js';
import { loadConfig } from '../../src/runtime/config/config.js';
import { anyText } from '../support/hostile.js';
import { cases, generated } from '../support/suites.js';
import { yamlBomb } from '../support/yaml-bomb.js';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'almoner-fuzz-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

/** Whatever stands there, it is a configuration or an error with a code; never a crash, never a hang. */
async function load(yaml: string | null, env: NodeJS.ProcessEnv): Promise<unknown> {
  const file = join(cwd, 'almoner.config.yaml');
  if (yaml === null) rmSync(file, { force: true });
  else writeFileSync(file, yaml);
  try {
    return await loadConfig({ env: { HOME: cwd, ...env }, cwd, flags: {} });
  } catch (error) {
    if (isAlmonerError(error)) {
      expect(error.exit).toBe(2);
      return error.details;
    }
    throw error;
  }
}

const settings = fc.dictionary(
  fc.constantFrom(
    'redisUrl',
    'dataFolder',
    'realms',
    'risks',
    'retentionDays',
    'logLevel',
    '__proto__',
    'constructor',
    'x',
  ),
  fc.jsonValue({ maxDepth: 4 }),
);

test('any bytes as the file', async () => {
  await fc.assert(
    fc.asyncProperty(anyText(400), async (text) => void (await load(text, {}))),
    generated(30, 300),
  );
});

test('any tree under the known names; nothing reaches the prototype', async () => {
  await fc.assert(
    fc.asyncProperty(settings, async (tree) => {
      await load(JSON.stringify(tree), {});
      expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    }),
    generated(30, 300),
  );
  await load('__proto__: {polluted: yes}\nrealms: {__proto__: {polluted: 1}}', {});
  expect('polluted' in {}).toBe(false);
});

test('any text in any variable', async () => {
  const names = [
    'REDIS_URL',
    'ALMONER_REALM_URL',
    'ALMONER_REALM_ID',
    'ALMONER_API_KEY',
    'ALMONER_RATE',
    'ALMONER_DATA',
    'ALMONER_CERTAINTY',
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.constantFrom(...names), anyText(60)),
      async (env) => void (await load(null, env)),
    ),
    generated(50, 500),
  );
});

test('a YAML bomb is refused at once', async () => {
  const started = performance.now();
  await load(`${yamlBomb()}\nrealms: *a29\n`, {});
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('nesting that would exhaust the stack, and very many settings, are refused at once', async () => {
  const fields = Array.from({ length: cases(3_000, 20_000) }, (_, i) => `a${i}: 1`).join('\n');
  const before = process.cpuUsage();
  for (const text of [
    '['.repeat(100_000),
    `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    `${'{a: '.repeat(20_000)}1${'}'.repeat(20_000)}`,
    `realms: ${'- '.repeat(20_000)}x`,
    fields,
  ])
    expect(await load(text, {}), text.slice(0, 20)).toBeInstanceOf(Array);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(10_000);
});

test('a base URL can name neither another scheme, nor credentials, nor a query', async () => {
  for (const url of [
    'file:///etc/passwd',
    'gopher://x/',
    'http://user:pass@host/',
    'http://host/?a=b',
    'http://host/#f',
    'javascript:1',
    'http://',
  ])
    expect(
      await load(null, { ALMONER_REALM_URL: url, ALMONER_REALM_ID: 'r', ALMONER_API_KEY: 'k'.repeat(20) }),
      url,
    ).toBeInstanceOf(Array);
});
