import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Almoner, PayRow } from '../../src/index.js';
import { parseFaults } from '../../src/realm/server/faults.js';
import { Program } from '../support/program/program.js';
import { until } from '../support/until.js';
import { listed, openLibrary, refusalOf } from './open-library.js';

/** Paying several batches at once and one after the other, stopping and closing, on a realm that takes its time. */
const MEMBERS = 40;
const member = (index: number) => String(300_000_000_000_000_000n + BigInt(index));
const rowsOf = (event: string, count: number): PayRow[] =>
  Array.from({ length: count }, (_, index) => ({
    member: member(index),
    tokens: 1 + index,
    reference: `${event}/${index}`,
  }));

let world: Program;
let almoner: Almoner;
beforeAll(async () => {
  world = await Program.start({
    members: Array.from({ length: MEMBERS }, (_, index) => ({ member: member(index), tokens: 0 })),
    faults: parseFaults(['latency:1:40']),
    env: { ALMONER_RATE: '20/s' },
  });
  almoner = await openLibrary(world.env, { cwd: world.folder });
});
afterAll(async () => {
  await almoner.close();
  await world.end();
});

const appliedOf = async (batch: string) =>
  (await world.applied()).filter(({ idempotencyKey }) => idempotencyKey?.includes(batch));

describe('several at once', () => {
  test('two batches, and one of them asked for twice: each order is paid once', async () => {
    const [one, two, same] = await Promise.all([
      almoner.pay({ rows: rowsOf('one', 12) }),
      almoner.pay({ rows: rowsOf('two', 12) }),
      almoner.pay({ rows: rowsOf('one', 12) }),
    ]);
    expect([one.counts, two.counts, same.counts]).toEqual([{ paid: 12 }, { paid: 12 }, { paid: 12 }]);
    expect(same.batch).toBe(one.batch);
    expect(await world.applied()).toHaveLength(24);
  });

  test('two instances on the same ledger in one process', async () => {
    const second = await openLibrary(world.env, { cwd: world.folder });
    const [one, two] = await Promise.all([
      almoner.pay({ rows: rowsOf('here', 6) }),
      second.pay({ rows: rowsOf('there', 6) }),
    ]);
    await second.close();
    expect([one.state, two.state]).toEqual(['done', 'done']);
    expect(await almoner.pay({ rows: rowsOf('after', 2) })).toMatchObject({ counts: { paid: 2 } });
  });
});

test('one after the other leaves nothing behind: no connection, file, listener or session', async () => {
  await almoner.pay({ rows: rowsOf('warm', 1) });
  const before = { open: openFiles(), listeners: listeners() };
  for (let event = 0; event < 6; event++) await almoner.pay({ rows: rowsOf(`small-${event}`, 1) });
  // Sockets to the realm close by themselves, a moment after they fell idle.
  await until('as many open files as before', () => openFiles() <= before.open);
  const more = Object.entries(listeners()).filter(([name, count]) => count > (before.listeners[name] ?? 0));
  expect(more).toEqual([]);
  const { stdout } = await world.run('recover', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ realms: [{ sessions: [] }] });
});

test('a dead letter is paid by a row that stands in for it, once', async () => {
  const lost = await almoner.pay({ rows: [{ member: '1', tokens: 3, reference: 'lost' }] });
  expect(lost.counts).toEqual({ refused: 1 });
  const order = `${lost.batch}-1`;
  const rows = [{ member: member(0), tokens: 3, reference: 'lost', replaces: order }];
  expect(await almoner.pay({ rows })).toMatchObject({ counts: { paid: 1 } });
  expect(await listed(almoner.results(lost.batch))).toMatchObject([{ order, marks: ['replaced'] }]);
  expect(await listed(almoner.deadLetters({ batch: lost.batch }))).toEqual([]);
  const [row] = rows;
  const second = almoner.pay({
    rows: [{ member: member(1), tokens: 3, reference: 'other', replaces: row?.replaces }],
  });
  expect(await refusalOf(second)).toMatchObject({ plan: { faults: [{ row: 0, column: 'almoner_order' }] } });
});

describe('stopping', () => {
  test('by a signal gives the paused batch; the same call goes on with it', async () => {
    const stop = new AbortController();
    const rows = rowsOf('signal', MEMBERS);
    const before = await world.appliedCount();
    const paying = almoner.pay({ rows }, { signal: stop.signal });
    await until('some payments', async () => (await world.appliedCount()) > before + 2);
    stop.abort();
    const paused = await paying;
    expect(paused).toMatchObject({ state: 'paused', reason: { code: 'ALM_BATCH_INTERRUPTED' } });
    expect(paused.counts.sending ?? 0).toBe(0);
    expect(await appliedOf(paused.batch)).toHaveLength(paused.counts.paid ?? 0);
    const done = await almoner.pay({ rows });
    expect(done).toMatchObject({ batch: paused.batch, existing: true, counts: { paid: MEMBERS } });
    expect(await appliedOf(paused.batch)).toHaveLength(MEMBERS);
  });

  test('before the batch is made leaves nothing', async () => {
    const rows = rowsOf('never', 2);
    expect(await refusalOf(almoner.pay({ rows }, { signal: AbortSignal.abort() }))).toMatchObject({
      code: 'ALM_LIBRARY_STOPPED',
    });
    expect(await almoner.plan({ rows })).toMatchObject({ existing: false });
  });

  test('by closing: what is being sent finishes, the batch is paused, and later calls are refused', async () => {
    const books = await openLibrary(world.env, { cwd: world.folder });
    const rows = rowsOf('closed', MEMBERS);
    const before = await world.appliedCount();
    const paying = books.pay({ rows });
    await until('some payments', async () => (await world.appliedCount()) > before + 2);
    const [paused] = await Promise.all([paying, books.close()]);
    expect(paused).toMatchObject({ state: 'paused', reason: { code: 'ALM_BATCH_INTERRUPTED' } });
    expect(await appliedOf(paused.batch)).toHaveLength(paused.counts.paid ?? 0);
    await books.close();
    for (const call of [
      books.plan({ rows }),
      books.pay({ rows }),
      books.status('last'),
      listed(books.results('last')),
    ])
      expect(await refusalOf(call)).toMatchObject({ code: 'ALM_LIBRARY_CLOSED' });
    expect(await almoner.pay({ rows })).toMatchObject({ batch: paused.batch, counts: { paid: MEMBERS } });
  });

  test('in the middle of a list refuses its next item', async () => {
    await using books = await openLibrary(world.env, { cwd: world.folder });
    const results = books
      .results((await almoner.pay({ rows: rowsOf('signal', MEMBERS) })).batch)
      [Symbol.asyncIterator]();
    expect((await results.next()).value).toMatchObject({ state: 'paid' });
    await books.close();
    expect(await refusalOf(results.next())).toMatchObject({ code: 'ALM_LIBRARY_CLOSED' });
  });
});

function openFiles(): number {
  return readdirSync('/proc/self/fd').length;
}

function listeners(): Record<string, number> {
  return Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)]));
}
