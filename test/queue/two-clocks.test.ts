import { expect, test } from 'vitest';
import { TwoClocks } from '../../src/queue/two-clocks.js';

const HOUR_MS = 3_600_000;

function stepped() {
  const time = { store: 1_000_000, own: 50 };
  const clocks = new TwoClocks(
    () => Promise.resolve(time.store),
    () => time.own,
  );
  return { time, clocks };
}

test('the first reading starts the count; while both clocks run alike they agree', async () => {
  const { time, clocks } = stepped();
  expect(await clocks.since('a')).toMatchObject({ ms: 0, agree: true });
  time.store += 20_500;
  time.own += 20_000;
  expect(await clocks.since('a')).toMatchObject({ ms: 20_000, agree: true });
  expect(await clocks.since('b')).toMatchObject({ ms: 0, agree: true });
});

test.each([HOUR_MS, -HOUR_MS])('a store clock stepped by %i ms proves nothing', async (step) => {
  const { time, clocks } = stepped();
  await clocks.since('a');
  time.store += 5_000 + step;
  time.own += 5_000;
  const { ms, agree } = await clocks.since('a');
  expect(agree).toBe(false);
  expect(ms).toBeLessThanOrEqual(5_000);
});

test('a machine that slept, whose own clock stood still, is detected too', async () => {
  const { time, clocks } = stepped();
  await clocks.since('a');
  time.store += HOUR_MS;
  expect((await clocks.since('a')).agree).toBe(false);
});

test('a slow reply, or a process frozen during it, is no step: it only lengthens the wait', async () => {
  const time = { store: 1_000_000, own: 50, slowMs: 0 };
  const clocks = new TwoClocks(
    () => {
      const read = time.store;
      time.store += time.slowMs;
      time.own += time.slowMs;
      return Promise.resolve(read);
    },
    () => time.own,
  );
  await clocks.since('a');
  time.store += 5_000;
  time.own += 5_000;
  time.slowMs = 30_000;
  expect(await clocks.since('a')).toEqual({ ms: 5_000, atMostMs: 35_000, agree: true });
  await clocks.since('b');
  time.slowMs = 0;
  expect(await clocks.since('b')).toEqual({ ms: 0, atMostMs: 30_000, agree: true });
});

test('a forgotten key is counted from zero again', async () => {
  const { time, clocks } = stepped();
  await clocks.since('a');
  time.store += 9_000;
  time.own += 9_000;
  clocks.forget('a');
  expect(await clocks.since('a')).toMatchObject({ ms: 0, agree: true });
});

test('an old key that is never asked about again leaves the memory', async () => {
  const { time, clocks } = stepped();
  await clocks.since('ended elsewhere');
  time.store += 9_000;
  time.own += 9_000;
  for (let i = 0; i < 20_000; i++) await clocks.since(`order ${i}`);
  expect(await clocks.since('ended elsewhere')).toMatchObject({ ms: 0, agree: true });
});
