import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const isFunction = (value: unknown) => typeof value === 'function';
const { withFigures, pagesWithFigures, keptResult } = z
  .object({
    withFigures: z.custom<(page: string, resultOf: (bench: string) => unknown) => string>(isFunction),
    pagesWithFigures: z.custom<() => string[]>(isFunction),
    keptResult: z.custom<(bench: string) => unknown>(isFunction),
  })
  .parse(await import(resolve('scripts/write-figures.mjs')));

const RESULT = {
  bench: 'pace',
  at: '2026-11-16T18:40:29.458Z',
  machine: { cpu: 'A CPU', cores: 2, memoryGb: 25, node: 'v20.20.2', loadBefore: 1.29 },
  rows: [{ who: 'almoner', 'rows/s': 779.487, ratio: 0.0812, count: 12345 }],
};

describe('figures of the documents', () => {
  test.each(pagesWithFigures())(
    '%s shows the kept results (node scripts/write-figures.mjs writes them)',
    (page) => {
      const text = readFileSync(page, 'utf8');
      expect(withFigures(text, keptResult)).toBe(text);
    },
  );

  test('stand under their machine, Node, load and date', () => {
    const page =
      'Before.\n\n<!-- figures pace: who, rows/s, ratio, count -->\nold\n<!-- end of figures -->\n';
    expect(withFigures(page, () => RESULT)).toBe(
      [
        'Before.',
        '',
        '<!-- figures pace: who, rows/s, ratio, count -->',
        '',
        'Bench `pace`, 2026-11-16: A CPU, 2 cores, 25 GB, Node 20.20.2, load 1.29 before the start.',
        '',
        '| who | rows/s | ratio | count |',
        '|---|---:|---:|---:|',
        '| almoner | 779 | 0.0812 | 12,345 |',
        '',
        '<!-- end of figures -->',
        '',
      ].join('\n'),
    );
  });

  test('name a column that the result does not have', () => {
    const page = '<!-- figures pace: rows/min -->\n<!-- end of figures -->';
    expect(() => withFigures(page, () => RESULT)).toThrow('pace rows has no column rows/min');
  });
});
