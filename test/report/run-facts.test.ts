import { describe, expect, test } from 'vitest';
import { html } from '../../src/report/html/markup.js';
import { FailingGroups, Slowest } from '../../src/report/run-facts.js';
import { latencyFacts, paceUsed } from '../../src/report/summarize.js';
import { recordOf, rowOf } from '../support/ledger/batch-record.js';

describe('failing groups', () => {
  test('messages that differ only in an id are one group, with its first orders', () => {
    const groups = new FailingGroups();
    for (let index = 1; index <= 30; index += 1) groups.add(rowOf('refused', index));
    groups.add(rowOf('exhausted', 31));
    groups.add(rowOf('paid', 32));
    groups.add(rowOf('duplicate', 33, { error: 'spent by another batch' }));
    const [first, second, ...rest] = groups.list();
    expect(first).toMatchObject({ count: 30, code: 'ALM_SEND_NOT_SENT' });
    expect(first?.first.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6]);
    expect(second?.count).toBe(1);
    expect(rest).toEqual([]);
  });

  test('ever new messages stay bounded and every order is counted', () => {
    const groups = new FailingGroups();
    const word = (index: number) => [...String(index)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
    for (let index = 1; index <= 5_000; index += 1)
      groups.add(rowOf('refused', index, { error: `strange ${word(index)}` }));
    const list = groups.list();
    expect(list.length).toBeLessThanOrEqual(201);
    expect(list.reduce((sum, group) => sum + group.count, 0)).toBe(5_000);
    expect(list[0]?.message).toBeNull();
  });
});

test('the slowest orders are the ten slowest, in file order where equal', () => {
  const slowest = new Slowest();
  for (let index = 1; index <= 300; index += 1) slowest.add(rowOf('paid', index));
  const took = slowest.orders().map((order) => order.tookMs);
  expect(took).toHaveLength(10);
  expect(took).toEqual([...took].sort((a, b) => b - a));
  expect(
    slowest
      .orders()
      .slice(0, 3)
      .map((order) => order.row.line),
  ).toEqual([97, 194, 291]);
});

describe('latency', () => {
  test('a percentile is the bound of the bucket that holds it', () => {
    const histogram = [
      { upToMs: 10, count: 50 },
      { upToMs: 20, count: 40 },
      { upToMs: 50, count: 9 },
      { upToMs: 100, count: 1 },
      { upToMs: 200, count: 0 },
    ];
    expect(latencyFacts(histogram)).toEqual({ count: 100, p50: 10, p90: 20, p99: 50, max: 100 });
  });

  test('nothing measured is null and not a number made up', () => {
    expect(latencyFacts([])).toEqual({ count: 0, p50: null, p90: null, p99: null, max: null });
  });
});

test('the pace counts the time at work, not the pauses', () => {
  const slice = { requests: 50, paid: 50, failed: 0, doubts: 0, rateLimited: 0 };
  const series = {
    sliceMs: 10_000,
    slices: [
      { ...slice, at: 0 },
      { ...slice, at: 3_600_000 },
    ],
  };
  const { batch } = recordOf([], { batch: { requests: 100, rate: { requests: 10, windowMs: 1_000 } } });
  expect(paceUsed(batch, series, { from: 0, to: 3_610_000 })).toMatchObject({
    activeMs: 20_000,
    usedPerMinute: 300,
    allowedPerMinute: 600,
    share: 0.5,
  });
  expect(paceUsed(batch, { sliceMs: 10_000, slices: [] }, null).usedPerMinute).toBeNull();
  // Evenly at ten a second, 21 requests take two seconds from the first to the last: the whole rate, and not 105 %.
  expect(paceUsed({ ...batch, requests: 21 }, series, { from: 0, to: 2_000 })).toMatchObject({ share: 1 });
  const short = paceUsed({ ...batch, requests: 2 }, series, { from: 0, to: 30 });
  expect(short).toMatchObject({ usedPerMinute: null, share: null, activeMs: 30 });
});

test('values put into markup are text, and hidden characters show', () => {
  expect(html`<p title="${'"x'}">${'<script>&'}${['a', 1]}${null}${'\u202e'}</p>`.markup).toBe(
    '<p title="&quot;x">&lt;script&gt;&amp;a1\ufffd</p>',
  );
});
