import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

/** The table of docs/architecture.md: each step of one row's way with its files. */
function steps(): Map<string, readonly string[]> {
  const [, after = ''] = readFileSync('docs/architecture.md', 'utf8').split(
    '\n### The same way, file by file\n',
  );
  const [section = ''] = after.split(/\n## /);
  const rows = section.split('\n').filter((line) => line.startsWith('| ') && line.includes('.ts`'));
  return new Map(
    rows.map((line): [string, readonly string[]] => {
      const [, step = '', files = ''] = line.split('|').map((cell) => cell.trim());
      return [step, [...files.matchAll(/`([^`]+)`/g)].map(([, path]) => `src/${path}`)];
    }),
  );
}

describe('one row’s way, as docs/architecture.md draws it', () => {
  const way = steps();
  const all = [...way.values()].flat();

  test('names files that are there, each once', () => {
    expect(all.filter((path) => !existsSync(path))).toEqual([]);
    expect(new Set(all).size).toBe(all.length);
  });

  test('reads in at most 57 files, and in at most 22 from the batch’s start to the settled order', () => {
    const working = [...(way.get('batch to job') ?? []), ...(way.get('job to settled order') ?? [])];
    expect(working.length).toBeGreaterThan(0);
    expect(working.length).toBeLessThanOrEqual(22);
    expect(all.length).toBeLessThanOrEqual(57);
  });
});
