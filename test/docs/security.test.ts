import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const text = readFileSync('docs/explanation/security.md', 'utf8');
const [, after = ''] = text.split('\n## Threats\n');
const [section = ''] = after.split('\n## ');
const threats = section
  .split('\n- **')
  .slice(1)
  .map((item) => {
    const [threat = '', rest = ''] = item.split(/\n###/)[0]?.split('**') ?? [];
    const [stops = ''] = rest.split('\n');
    return { threat, stops, files: [...rest.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file) };
  });

describe('docs/explanation/security.md', () => {
  test('names for every threat what stops it and the very files that hold it', () => {
    expect(threats.length).toBeGreaterThan(30);
    for (const { threat, stops, files } of threats) {
      expect([threat, stops.length > 20, files.length > 0]).toEqual([threat, true, true]);
      expect([threat, files.filter((file) => !existsSync(file))]).toEqual([threat, []]);
    }
  });

  test('leaves no test of this kind unnamed', () => {
    const held = readdirSync('test/security').map((name) => `test/security/${name}`);
    expect(held.filter((file) => !text.includes(`\`${file}\``))).toEqual([]);
  });
});
