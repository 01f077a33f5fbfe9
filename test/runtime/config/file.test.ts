import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAlmonerError } from '../../../src/core/errors/error.js';
import { anyText } from '../../support/hostile.js';
import { faultsOf, folderWith, load } from './load-config.js';

/** The configuration file as a text, before anything of it is a setting. */
describe('the file itself', () => {
  test('a named file that does not exist is refused, not replaced by defaults', async () => {
    expect(await faultsOf({ flags: { config: 'nowhere.yaml' } })).toEqual([
      'nowhere.yaml: there is no such file',
    ]);
    expect(await faultsOf({ cwd: folderWith({ 'd/x': '' }), flags: { config: 'd' } })).toEqual([
      expect.stringContaining('EISDIR'),
    ]);
  });

  test.each([
    ['logLevel: [info', 'not valid YAML'],
    ['logLevel: info\nlogLevel: debug', 'logLevel: occurs here twice'],
    ['logLevel: !!js/function x', 'not valid YAML: Unresolved tag'],
    ['a: 1\n---\nb: 2', 'not valid YAML'],
    ['- a', 'expected a block of settings at the top'],
    ['just text', 'expected a block of settings at the top'],
  ])('%j is refused', async (yaml, message) => {
    expect((await faultsOf({ yaml }))[0]).toContain(message);
  });

  test('a directive does not turn numbers into others', async () => {
    const caps = 'maxTokensPerDay: 0100000, maxTokensPerOrder: 1:00, maxTokensPerBatch: 1_000';
    const realm = `realms: { a: { baseUrl: https://a.example, realmId: a, keyEnv: K, ${caps} } }`;
    const faults = await faultsOf({ yaml: realm });
    expect(faults.map((fault) => fault.split(':')[0])).toEqual([
      'realms.a.maxTokensPerOrder',
      'realms.a.maxTokensPerBatch',
    ]);
    const asked = await faultsOf({ yaml: `%YAML 1.1\n---\n${realm}` });
    expect(asked.map((fault) => fault.replace('line 3', 'line 1'))).toEqual(faults);
  });

  test('an alias bomb and a huge file are refused at once', async () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 12; level += 1) {
      const name = String.fromCharCode(97 + level);
      const before = String.fromCharCode(96 + level);
      bomb.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`);
    }
    expect(await faultsOf({ yaml: bomb.join('\n') })).toEqual([
      expect.stringMatching(/expected at most \d+ (uses of YAML aliases|values)/),
    ]);
    expect(await faultsOf({ yaml: 'a: &a { b: *a }' })).toEqual([expect.stringMatching(/expected at most/)]);
    expect(await faultsOf({ yaml: `# ${'x'.repeat(300_000)}` })).toEqual([expect.stringContaining('bytes')]);
  });

  test('aliases in small numbers are welcome', async () => {
    const yaml =
      'realms:\n  a: { baseUrl: https://a.example, realmId: a, keyEnv: K, timeouts: &t { totalMs: 9000 } }\n  b: { baseUrl: https://b.example, realmId: b, keyEnv: L, timeouts: *t }\n';
    expect((await load({ yaml })).profiles.map((profile) => profile.timeouts.totalMs)).toEqual([9000, 9000]);
  });

  test('whatever stands in it, the answer is a configuration or a list of faults', async () => {
    const cwd = folderWith();
    const text = fc.oneof(
      anyText(200),
      fc.json({ maxDepth: 4 }),
      fc
        .array(
          fc.constantFrom(
            'realms:',
            '  main:',
            '    rate: ',
            '&a',
            '*a',
            '<<: *a',
            '- ',
            '{',
            '}',
            '!!x',
            ': ',
            '\n',
            'logLevel: info',
          ),
          { maxLength: 20 },
        )
        .map((parts) => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(text, async (yaml) => {
        const input = { cwd: folderFor(cwd, yaml), env: {}, flags: { config: 'f.yaml' } };
        try {
          await load(input);
        } catch (error) {
          if (!isAlmonerError(error, 'ALM_CONFIG_INVALID')) throw error;
          expect(error.details.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 150 },
    );
  });
});

function folderFor(cwd: string, yaml: string): string {
  writeFileSync(join(cwd, 'f.yaml'), yaml);
  return cwd;
}
