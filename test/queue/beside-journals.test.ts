import { readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFence } from '../../src/ledger/read/fence.js';
import { recoveredBatches } from '../../src/ledger/read/recovered.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { begin, feedAll } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

/**
 * Machine 2 has sent orders after the backup. The store is restored, and machine 1 opens the ledger and continues. Then
 * machine 2 starts again: the ledger is open, but the journals in its folder hold attempts that the ledger lacks.
 */
const bench = ledgersOnRedis();

const code = async (batch: TestBatch, index: number) => (await readRecord(batch.ref, index)).code;

async function restoredUnder(fate: 'paid' | 'dies') {
  const batch = await sealed(await bench.ledger(), [{}, {}, {}]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const [one, two] = [await tempFolder(), await tempFolder()];
  const first = await machines.start(one);
  expect(await first.sender.recover()).toBe(true);
  await first.sender.die();
  const restore = await photograph(batch.ledger);
  const second = await machines.start(two);
  expect(await second.sender.recover()).toBe(true);
  await second.sender.begin(1);
  if (fate === 'paid') await second.sender.finish('paid');
  await second.sender.die();
  await restore();
  const again = await machines.start(one);
  expect(await again.sender.recover()).toBe(true);
  expect(await readFence(batch.ledger)).toMatchObject({ armed: true });
  return { batch, machines, two, again };
}

describe('a process that starts on an open ledger', () => {
  test('closes it before it merges the journals in its folder, and opens it only afterwards', async () => {
    const { batch, machines, two, again } = await restoredUnder('paid');
    expect(await code(batch, 1)).toBe('p');
    await again.sender.die();
    const late = await machines.start(two);
    expect(await late.sender.recover()).toBe(true);
    const moves = late.scripts.filter((name) => ['disarm', 'replay', 'arm'].includes(name));
    expect(moves.filter((name, i) => name !== moves[i - 1])).toEqual(['disarm', 'replay', 'arm']);
    expect(await code(batch, 1)).toBe('P');
    expect((await readFence(batch.ledger)).rollback).toMatchObject({ found: expect.any(Number) });
    expect(machines.realm.applied.get(1)).toBe(1);
    expect(await tieUp(batch.ledger)).toEqual([]);
    await late.sender.die();
  });

  test('closes it for what a journal holds, even if the ledger’s sequence has advanced further', async () => {
    const { batch, machines, two, again } = await restoredUnder('paid');
    for (const index of [2, 3]) {
      await again.sender.begin(index);
      await again.sender.finish('paid');
    }
    await again.sender.die();
    const late = await machines.start(two);
    expect(await late.sender.recover()).toBe(true);
    const moves = late.scripts.filter((name) => ['disarm', 'replay', 'arm'].includes(name));
    expect(moves.filter((name, i) => name !== moves[i - 1])).toEqual(['disarm', 'replay', 'arm']);
    expect(await code(batch, 1)).toBe('P');
    await late.sender.die();
  });

  test('stops live senders until they have merged as well', async () => {
    const { batch, machines, two, again } = await restoredUnder('paid');
    const late = await machines.start(two);
    expect(await late.sender.recover()).toBe(false);
    // Machine 1 takes order 1 for an order that was never sent.
    await again.sender.begin(1);
    expect(again.sender.open).toEqual([]);
    expect(await begin(batch, 2)).toEqual({ refusal: 'disarmed' });
    expect(await again.sender.recover()).toBe(true);
    expect(await late.sender.recover()).toBe(true);
    expect(await code(batch, 1)).toBe('P');
    await late.sender.begin(2);
    expect(late.sender.open).toHaveLength(1);
    expect(await tieUp(batch.ledger)).toEqual([]);
    for (const { sender } of [late, again]) await sender.die();
  });

  test('finds its own attempt beside another attempt under the same number: the order never counts as waiting', async () => {
    const { batch, machines, two, again } = await restoredUnder('dies');
    await again.sender.begin(1);
    expect(await code(batch, 1)).toBe('s');
    const late = await machines.start(two);
    await late.sender.recover();
    expect(await code(batch, 1)).toBe('D');
    await again.sender.recover();
    // The answer to machine 1’s attempt still counts for that attempt.
    await again.sender.finish('paid');
    expect(await code(batch, 1)).toBe('P');
    expect(await tieUp(batch.ledger)).toEqual([]);
    for (const { sender } of [late, again]) await sender.die();
  });

  test('leaves it open at the next start, because the merge is recorded', async () => {
    const { batch, machines, two, again } = await restoredUnder('dies');
    await again.sender.die();
    const late = await machines.start(two);
    expect(await late.sender.recover()).toBe(true);
    expect(await code(batch, 1)).toBe('D');
    await late.sender.die();
    const { era } = await readFence(batch.ledger);
    const next = await machines.start(two);
    expect(await next.sender.recover()).toBe(true);
    expect(next.scripts).not.toContain('disarm');
    expect(next.scripts).not.toContain('replay');
    expect((await readFence(batch.ledger)).era).toBe(era);
    await next.sender.die();
  });
});

describe('payments of batches that the store has forgotten', () => {
  test('are recorded once, and not again at every look', async () => {
    const ORDERS = 40;
    const ledger = await bench.ledger();
    const small = await sealed(ledger, [{}], { id: 'small' });
    const machines = new Machines(bench.redis(), small, 'manual');
    const folder = await tempFolder();
    const before = await photograph(ledger);
    const large = await sealed(
      ledger,
      Array.from({ length: ORDERS }, () => ({})),
      { id: 'large' },
    );
    await feedAll(large);
    const payer = await new Machines(bench.redis(), large, 'manual').start(folder);
    expect(await payer.sender.recover()).toBe(true);
    for (let index = 1; index <= ORDERS; index++) {
      await payer.sender.begin(index);
      await payer.sender.finish('paid');
    }
    await payer.sender.die();
    await before();
    const { sender } = await machines.start(folder);
    expect(await sender.recover()).toBe(true);
    expect(await recoveredBatches(ledger)).toMatchObject([{ batch: 'large', orders: ORDERS }]);
    const written = async () => {
      const info = await bench.redis().client().info('commandstats');
      const calls = [...info.matchAll(/cmdstat_(?:hset|hdel|del|set|rpush|sadd):calls=(\d+)/g)];
      return calls.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const start = await written();
    for (let look = 0; look < 10; look++) {
      expect(await sender.recover()).toBe(true);
      await sender.adoptDead();
    }
    expect((await written()) - start).toBeLessThan(ORDERS);
    // The same holds for the next start that reads the journals.
    await sender.die();
    for (const name of await readdir(folder, { recursive: true }))
      if (name.endsWith('.merged')) await unlink(join(folder, name));
    const next = await machines.start(folder);
    expect(await next.sender.recover()).toBe(true);
    expect(next.scripts).not.toContain('disarm');
    expect((await written()) - start).toBeLessThan(ORDERS);
    await next.sender.die();
  });
});
