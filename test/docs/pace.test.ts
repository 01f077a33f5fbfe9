import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PACE_CONSTANTS, paceConstantsLua } from '../../src/core/pace-constants.js';

test('docs/pace.md shows every number of the pace, with its unit and reason', () => {
  const [, numbers = ''] = readFileSync('docs/pace.md', 'utf8').split('\n## The numbers\n');
  const rows = numbers.split('\n').filter((line) => line.startsWith('| `'));
  const wanted = Object.entries(PACE_CONSTANTS).map(
    ([name, { value, unit, why }]) => `| \`${name}\` | ${value.toLocaleString('en')} | ${unit} | ${why} |`,
  );
  expect(rows).toEqual(wanted);
});

test('the scripts of the pace use these numbers, and no others of their own', () => {
  const files = ['pace/take-slot', 'pace/answer-slot', 'includes/pace', 'includes/refusals'];
  const used = files.map((path) => readFileSync(`src/ledger/${path}.lua`, 'utf8')).join('\n');
  for (const [, name = ''] of used.matchAll(/\bPACE\.(\w+)/g))
    expect(paceConstantsLua()).toContain(`  ${name} = `);
  expect(used.match(/^\s*local [A-Z][A-Z_]+(?:, [A-Z_]+)* = /gm)).toBeNull();
});
