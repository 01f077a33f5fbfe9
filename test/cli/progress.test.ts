import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { Progress } from '../../src/cli/frame/progress.js';
import type { Waiting } from '../../src/core/waiting.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { waitingOf } from '../../src/operations/batches/waiting.js';
import { ledgersOnRedis, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { sendAs } from '../support/ledger/order-moves.js';
import { NO_PROFILES } from '../support/ledger/realm-profile.js';
import { HISTORY_RATE as RATE, sayLimit } from '../support/ledger/refusal-history.js';
import { standingOrders } from '../support/ledger/standing-orders.js';

/** The line of a batch, drawn of real books into a terminal that keeps what it was given. */
const bench = ledgersOnRedis();
const { running, by } = standingOrders(bench);

function terminal() {
  const lines: string[] = [];
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 400 });
  stream.on('data', (chunk: Buffer) => lines.push(chunk.toString('utf8').replace('\r\u001b[2K', '')));
  return { lines, stream };
}

async function shown(batch: TestBatch, progress: Progress, waiting?: Waiting[]): Promise<void> {
  const view = await readBatch(batch.ref);
  if (view === undefined) throw new Error('the batch is there');
  progress.showBatch(view, null, waiting ?? (await waitingOf(batch.ref, NO_PROFILES)));
}

test('what moves has a rate, in the unit of what is allowed', async () => {
  const batch = await running(4);
  const { lines, stream } = terminal();
  const progress = new Progress(stream, RATE);
  await shown(batch, progress);
  await sendAs(batch, 1, 'P', by(batch));
  await shown(batch, progress);
  expect(lines[0]).toMatch(/ 0% {2}0\/4 {2}paid 0 {2}0\/s of 50\/s$/);
  // One request a few milliseconds after the start is no rate of hundreds.
  expect(lines[1]).toMatch(/ 25% {2}1\/4 {2}paid 1 {2}(1\.0|0\.\d)\/s of 50\/s {2}/);
  const slow = terminal();
  await shown(batch, new Progress(slow.stream, { requests: 300, windowMs: 60_000 }));
  await shown(batch, new Progress(slow.stream, null));
  expect(slow.lines).toEqual([
    expect.stringMatching(/ {2}0\/min of 300\/min$/),
    expect.stringMatching(/ {2}0\/min$/),
  ]);
});

test('a hold is shown as one, with its end and without a rate', async () => {
  const batch = await running(4);
  const { lines, stream } = terminal();
  const progress = new Progress(stream, RATE);
  await shown(batch, progress);
  await sendAs(batch, 1, 'P', by(batch));
  await sayLimit(batch.ledger, RATE, RATE, 90_000);
  await shown(batch, progress);
  const { hold } = await batch.ledger.scripts.redis.hgetall(`${batch.ledger.keyPrefix}:pace`);
  const end = new Date(Number(hold)).toISOString().slice(11, 19);
  expect(lines[1]).toMatch(/ {2}1\/4 {2}3 wait \(hold since [\d:]{8} UTC, until [\d:]{8} UTC\): /);
  expect(lines[1]).toContain(`, until ${end} UTC`);
  expect(lines[1]).not.toMatch(/\/s|\/min/);
});

test('an order that waits for its retry because of the hold does not hide it', async () => {
  const batch = await running(4);
  const { lines, stream } = terminal();
  await sendAs(batch, 1, 'w', { ...by(batch), dueInMs: 90_000, limited: true });
  await sayLimit(batch.ledger, RATE, RATE, 90_000);
  expect((await waitingOf(batch.ref, NO_PROFILES)).map(({ why }) => why)).toEqual(['retry', 'hold']);
  await shown(batch, new Progress(stream, RATE));
  expect(lines[0]).toContain('3 wait (hold since ');
  expect(lines[0]).not.toContain('/s');
});

test('a hold that has ended since it was looked for is none', async () => {
  const batch = await running(4);
  const { lines, stream } = terminal();
  const progress = new Progress(stream, RATE);
  await sayLimit(batch.ledger, RATE, RATE, 60_000);
  const waiting = await waitingOf(batch.ref, NO_PROFILES);
  await shown(batch, progress, waiting);
  const ended = new Date(Date.now() - 1).toISOString();
  await shown(
    batch,
    progress,
    waiting.map((one) => ({ ...one, until: ended })),
  );
  expect(lines[0]).toContain(' wait (hold since ');
  expect(lines[1]).toMatch(/ {2}paid 0 {2}0\/s of 50\/s$/);
});

test('short holds that come again and again do not make it forget how fast it goes', async () => {
  const batch = await running(4);
  const { lines, stream } = terminal();
  const progress = new Progress(stream, RATE);
  await shown(batch, progress);
  await sendAs(batch, 1, 'P', by(batch));
  const { redis } = batch.ledger.scripts;
  const hold = (holdMs: number) =>
    redis.hset(`${batch.ledger.keyPrefix}:pace`, 'hold', Date.now() + holdMs, 'holdMs', holdMs);
  await hold(20_000);
  await shown(batch, progress);
  await redis.hdel(`${batch.ledger.keyPrefix}:pace`, 'hold', 'holdMs');
  await shown(batch, progress);
  expect(lines[1]).toContain(' wait (hold since ');
  expect(lines[2]).toMatch(/ [1-9][\d.]*\/s of 50\/s {2}.* to go$/);
  // A long one says nothing of how fast it goes on.
  await hold(60_000);
  await shown(batch, progress);
  await redis.hdel(`${batch.ledger.keyPrefix}:pace`, 'hold', 'holdMs');
  await shown(batch, progress);
  expect(lines[4]).toMatch(/ 0\/s of 50\/s$/);
});
