import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CONCLUSIONS, HEARD_LATELY_MS, PRESENCE, SIGN_EVERY_MS } from '../../src/core/presence.js';
import { duration } from '../../src/words/spelling.js';

const [, after = ''] = readFileSync('docs/explanation/reliability.md', 'utf8').split('\n### Who is dead\n');
const [section = ''] = after.split(/\n##+ /);

/** The tables of the section, without their headings and rules. */
const tables = section
  .split(/\n\n+/)
  .filter((block) => block.startsWith('|'))
  .map((block) => block.trim().split('\n'));
const table = (firstRow: string) => tables.find(([, , row = '']) => row.startsWith(firstRow)) ?? [];

const rowOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

describe('docs/explanation/reliability.md, "Who is dead"', () => {
  test('shows the table of the code, with every row and column', () => {
    const columns = Object.keys(PRESENCE.alive);
    const rows = Object.entries(PRESENCE).map(([life, row]) => rowOf([`**${life}**`, ...Object.values(row)]));
    expect(table('| **alive**')).toEqual([
      `|${rowOf(['', ...columns]).slice(2)}`,
      `|${'---|'.repeat(columns.length + 1)}`,
      ...rows,
    ]);
  });

  test('shows what is concluded from each presence', () => {
    const rows = Object.entries(CONCLUSIONS).map(([presence, { orders, deliveries, named }]) =>
      rowOf([`**${presence}**`, orders, deliveries, named === null ? 'none' : `\`${named}\``]),
    );
    expect(table('| **at-work**').slice(2)).toEqual(rows);
  });

  test('says how often a sign is given, and how long it counts', () => {
    expect(section).toContain(`Every session says every ${duration(SIGN_EVERY_MS)} that it lives`);
    expect(section).toContain(`heard lately for ${duration(HEARD_LATELY_MS)} after its last sign`);
  });
});
