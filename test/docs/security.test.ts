import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const text = readFileSync('docs/security.md', 'utf8');
const lines = text
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| threat'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('docs/security.md', () => {
  test('names for every threat what stops it and the very files that hold it', () => {
    expect(lines.length).toBeGreaterThan(15);
    for (const [, threat = '', stops = '', tests = ''] of lines) {
      const files = [...tests.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
      expect([threat, stops.length > 20, files.length > 0]).toEqual([threat, true, true]);
      expect([threat, files.filter((file) => !existsSync(file))]).toEqual([threat, []]);
    }
  });

  test('leaves no test of this kind unnamed', () => {
    const held = readdirSync('test/security').map((name) => `test/security/${name}`);
    expect(held.filter((file) => !text.includes(`\`${file}\``))).toEqual([]);
  });
});
