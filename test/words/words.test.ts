import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { amountsWords, sumWords, totalWords } from '../../src/words/amounts.js';
import { binned, latencyChart, roundTop, runCharts } from '../../src/words/charts.js';
import { allowedWords, counted, duration, grouped, roughly, usedWords } from '../../src/words/spelling.js';
import { settledRows, standingWords } from '../../src/words/states.js';

test('the chart keeps every request, fills gaps, and never draws too many columns', () => {
  const slices = Array.from({ length: 1_000 }, (_, at) => ({
    at: at * 20,
    requests: 3,
    paid: 2,
    failed: 1,
    doubts: 0,
    rateLimited: 0,
  }));
  const { bins, binMs } = binned({ sliceMs: 10, slices });
  expect(bins.length).toBeLessThanOrEqual(90);
  expect(bins.reduce((sum, bin) => sum + bin.requests, 0)).toBe(3_000);
  expect(bins.every((bin, at) => bin.at === at * binMs)).toBe(true);
  expect(binned({ sliceMs: 10, slices: [] }).bins).toEqual([]);
});

test('a run of a second has many columns, told by how long after its beginning; every axis has its unit', () => {
  const slices = Array.from({ length: 20 }, (_, at) => ({
    at: at * 50,
    requests: 2,
    paid: 1,
    failed: 0,
    doubts: 1,
    rateLimited: 0,
  }));
  const charts = runCharts({ sliceMs: 50, slices }, null, () => '10:00:00');
  expect(charts?.settled).toMatchObject({
    label: 'Orders settled per 50 ms, over the whole run: 20 paid, 0 not paid, 20 in doubt.',
    units: { y: 'orders per 50 ms', x: 'time' },
    from: '10:00:00',
    to: '1 s later',
  });
  expect(charts?.settled.columns).toHaveLength(20);
  expect(charts?.settled.columns[3]?.title).toBe('10:00:00 + 150 ms: 1 paid, 0 not paid, 1 in doubt');
  expect(charts?.requests.units.y).toBe('requests per 50 ms');
  expect(latencyChart([{ upToMs: 30, count: 1 }])?.units).toEqual({ y: 'answers', x: 'time to the answer' });
});

test('numbers, durations and rates are spelled for people', () => {
  expect([1, 999, 1_000, 1_234_567].map((value) => grouped(value))).toEqual([
    '1',
    '999',
    '1,000',
    '1,234,567',
  ]);
  expect(grouped(2n ** 63n)).toBe('9,223,372,036,854,775,808');
  expect([0, 0.4, 850, 1_500, 12_345, 59_999, 61_000, 3_600_000, 90_061_000].map(duration)).toEqual([
    '0 ms',
    'under 1 ms',
    '850 ms',
    '1.5 s',
    '12 s',
    '1 min',
    '1 min 1 s',
    '1 h',
    '1 d 1 h',
  ]);
  // The half of it stands beside the axis: there are no half requests.
  expect([0, 1, 7, 15, 24, 83, 101].map(roundTop)).toEqual([2, 2, 8, 20, 30, 100, 150]);
  expect(roundTop(0.24)).toBe(0.25);
});

test('answers by time are shown from the bound below the quickest to that of the slowest', () => {
  const empty = { upToMs: 20, count: 0 };
  const answers = [
    { upToMs: 30, count: 14 },
    { upToMs: 50, count: 3 },
  ];
  expect(latencyChart([empty, ...answers])).toMatchObject({ from: '20 ms', to: '50 ms' });
  expect(latencyChart(answers)).toMatchObject({ from: '0 ms', to: '50 ms' });
});

test('what was used is told in the unit of what is allowed', () => {
  const rate = { requests: 24, windowMs: 60_000 };
  expect([usedWords(0.39, rate), allowedWords(rate)]).toEqual(['23/min', '24/min']);
  expect(usedWords(48.2, { requests: 50, windowMs: 1_000 })).toBe('48/s');
  expect(usedWords(9.5, { requests: 60, windowMs: 6_000 })).toBe('57/6s');
  expect(usedWords(0.05, { requests: 300, windowMs: 60_000 })).toBe('3.0/min');
  expect(usedWords(0, rate)).toBe('0/min');
  expect([usedWords(1_234, null), usedWords(0.5, null), allowedWords(null)]).toEqual([
    '1,234/s',
    '30/min',
    'no limit',
  ]);
});

test('a count and its noun are put together by the one helper, wherever a person reads them', () => {
  const noun =
    'orders|rows|batches|members|doubts|requests|attempts|workers|awards|payments|journals|wallets|faults|files|others';
  // A bound of our own is never one; a word of its own is not a count; a list that goes on has several.
  const bare = new RegExp(
    `(?<!of |at most |more than )\\$\\{(?![A-Z_]+\\}|state\\}|op\\}|counted)[^}]*\\} (?:${noun})\\b`,
  );
  const known =
    /length === 1 \?|=== 1 \? 'The|grouped\(orders\)\} orders`\} |length\} (batches|realms|runs) begin/;
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  const found = sources.flatMap((name) =>
    readFileSync(join('src', name), 'utf8')
      .split('\n')
      .filter((line) => bare.test(line) && !known.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
  expect([counted(1, 'batch', 'batches'), counted(2, 'batch', 'batches'), counted('1', 'token')]).toEqual([
    '1 batch',
    '2 batches',
    '1 token',
  ]);
  expect([0, 999, 8_000].map(roughly)).toEqual(['less than a second', 'less than a second', 'about 8 s']);
});

test('what is given, taken and moved is told apart, with the net', () => {
  const sums = (credit: bigint, debit: bigint, transfer: bigint) => ({ credit, debit, transfer });
  expect(amountsWords(sums(5_769n, 100n, 20n))).toBe('give 5,769 · take 100 · move 20 · net +5,669');
  expect(amountsWords(sums(50n, 50n, 0n), 'did')).toBe('gave 50 · took 50 · net 0');
  expect(amountsWords(sums(0n, 7n, 0n))).toBe('take 7 · net −7');
  expect(amountsWords(sums(0n, 0n, 0n))).toBe('0');
  expect(totalWords(sums(1n, 1n, 1n))).toBe('the amounts given, taken and moved together');
  expect(totalWords(sums(0n, 1n, 0n))).toBe('all that is taken');
  expect(sumWords('100', sums(50n, 50n, 0n), true)).toBe('100 tokens, absolute');
  expect(sumWords('1', sums(0n, 50n, 0n), true)).toBe('1 token taken');
  expect(sumWords('9', sums(0n, 50n, 0n))).toBe('9 tokens');
});

test('what is in doubt is not settled', () => {
  const batch = {
    rows: 100,
    counts: { paid: 80, doubt: 11, refused: 4, planned: 5 },
    state: 'done',
  } as const;
  expect(settledRows(batch)).toBe(84);
  expect(standingWords(batch)).toBe('done, 11 in doubt');
  expect(standingWords({ ...batch, counts: { paid: 100 } })).toBe('done');
});
