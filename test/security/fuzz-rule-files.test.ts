import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadRule } from '../../src/rules/load-rule.js';
import type { FaultyRule, LoadedRule } from '../../src/rules/rule.js';
import { anyText, hostileText, hostileValue } from '../support/hostile.js';
import { cases, generated } from '../support/suites.js';
import { yamlBomb } from '../support/yaml-bomb.js';

/** Whatever stands in a rule file, it is a rule or a list of faults with their places: no crash, no hang. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'almoner-rules-'));
  for (const name of samples('.csv')) writeFileSync(join(folder, name), readFileSync(join('jobs', name)));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const samples = (ending: string) => readdirSync('jobs').filter((name) => name.endsWith(ending));
const SAMPLES = samples('.yaml').map((name) => readFileSync(join('jobs', name), 'utf8'));
/** Of this process' own work, which a busy machine does not stretch. */
const CPU_MS_MAX = 8_000;

async function load(content: string | Uint8Array): Promise<LoadedRule | FaultyRule> {
  const path = join(folder, 'rule.yaml');
  writeFileSync(path, content);
  const before = process.cpuUsage();
  const result = await loadRule(path, 'rule.yaml');
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(CPU_MS_MAX);
  expect('polluted' in {}).toBe(false);
  if ('faults' in result) {
    expect(result.faults.length).toBeGreaterThan(0);
    for (const { code, message, line } of result.faults) {
      expect(code).toMatch(/^ALM_RULE_/);
      expect(message.length).toBeGreaterThan(10);
      expect(message).not.toMatch(/node_modules|\.[jt]s:\d+|call stack|undefined is not|not a function/);
      expect(line).toBeGreaterThanOrEqual(0);
    }
  }
  return result;
}

const refused = async (text: string) => expect(await load(text)).toHaveProperty('faults');

describe('rule files', () => {
  test('the samples are good, so that what follows is changed from good ones', async () => {
    for (const text of SAMPLES) expect(await load(text)).toHaveProperty('rule');
  });

  test('any bytes', async () => {
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 400 }), anyText(400));
    await fc.assert(
      fc.asyncProperty(bytes, async (content) => void (await load(content))),
      generated(20, 200),
    );
  });

  test('a good rule with bytes changed, cut or put in', async () => {
    const change = fc.record({
      at: fc.nat(),
      cut: fc.nat(12),
      put: fc.oneof(
        hostileText,
        fc.constantFrom('&a ', '*a', '!!js ', '|', '>', '---\n', '? ', '<<: ', '\t'),
      ),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...SAMPLES),
        fc.array(change, { minLength: 1, maxLength: 4 }),
        async (text, changes) => {
          let changed = text;
          for (const { at, cut, put } of changes) {
            const place = at % (changed.length + 1);
            changed = changed.slice(0, place) + put + changed.slice(place + cut);
          }
          await load(changed);
        },
      ),
      generated(20, 200),
    );
  });

  test('a good rule with one value of any type, as YAML and as JSON', async () => {
    const trees = SAMPLES.map((text): Record<string, unknown> => parse(text));
    const names = [
      'name',
      'realm',
      'schedule',
      'period',
      'audience',
      'condition',
      'award',
      'limits',
      'reason',
      'op',
      'from',
      'maxMissing',
      'keepRuns',
      '__proto__',
      'constructor',
    ];
    const nested = fc.dictionary(
      fc.constantFrom(
        'cron',
        'timezone',
        'missed',
        'file',
        'members',
        'tokens',
        'share',
        'pot',
        'weight',
        'perRun',
        'perMember',
        'cut',
        '__proto__',
      ),
      hostileValue,
      { maxKeys: 4 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...trees),
        fc.constantFrom(...names),
        fc.oneof(hostileValue, nested),
        async (tree, name, value) => {
          const entries = Object.entries(tree).filter(([key]) => key !== name);
          await load(JSON.stringify(Object.fromEntries([...entries, [name, value]])));
        },
      ),
      generated(20, 200),
    );
  });

  test('any text as an expression', async () => {
    const word = fc.constantFrom(
      'row',
      '.',
      'member',
      '(',
      ')',
      '[',
      ']',
      '&&',
      '||',
      '!',
      '>=',
      '==',
      '1',
      '9223372036854775808',
      '"a"',
      '?',
      ':',
      '+',
      '*',
      '/',
      '%',
      'now',
      'all',
      'map',
      'size',
      'matches',
      '(a+)+$',
      'x',
      ',',
      '{',
      '}',
      '__proto__',
      'constructor',
    );
    const expression = fc.oneof(
      hostileText,
      fc.array(word, { maxLength: 40 }).map((words) => words.join(' ')),
    );
    await fc.assert(
      fc.asyncProperty(expression, async (text) => {
        const base: Record<string, unknown> = parse(SAMPLES[0] ?? '');
        await load(JSON.stringify({ ...base, condition: text }));
      }),
      generated(20, 200),
    );
  });
});

describe('rule files made to exhaust', () => {
  test('aliases that multiply', async () => {
    await refused(`${yamlBomb()}\nname: *a29\n`);
    await refused('a: &a\n  b: *a\n');
    await refused(`<<: &m {name: x}\n`);
  });

  test('nesting without end', async () => {
    for (const depth of [50, 5_000, 200_000]) {
      await refused('['.repeat(depth));
      await refused(`${'['.repeat(depth)}${']'.repeat(depth)}`);
      await refused(`${'{a: '.repeat(depth)}1${'}'.repeat(depth)}`);
      await refused(`name: ${'- '.repeat(depth)}x`);
    }
    await refused(Array.from({ length: 1_500 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'));
  });

  test('a map of very many fields', async () => {
    const fields = Array.from({ length: cases(4_000, 40_000) }, (_, i) => `a${i}: 1`);
    await refused(fields.join('\n'));
    await refused(`{${fields.join(', ')}}`);
  });

  test('an expression without end', async () => {
    const base: Record<string, unknown> = parse(SAMPLES[0] ?? '');
    for (const condition of [
      '('.repeat(100_000),
      '!'.repeat(100_000),
      `${'[1].all(x, '.repeat(2_000)}true${')'.repeat(2_000)}`,
      '1+'.repeat(50_000),
      `"${'a'.repeat(1_000_000)}" == ""`,
    ])
      await refused(JSON.stringify({ ...base, condition }));
  });

  test('a file that is too large, a name that is too long, a number of any size', async () => {
    await refused(`name: ${'x'.repeat(5_000_000)}\n`);
    await refused(`name: ${'x'.repeat(1_000_000)}\n`);
    const base: Record<string, unknown> = parse(SAMPLES[0] ?? '');
    for (const perRun of [-1, 0, 1e308, 2 ** 53, 0.5, '9'.repeat(10_000)])
      await refused(JSON.stringify({ ...base, limits: { perRun } }));
  });
});
