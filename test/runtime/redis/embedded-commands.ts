import pino from 'pino';
import { expect } from 'vitest';
import { openStore, type Store } from '../../../src/runtime/redis/store.js';
import { isAlive, startStoreProgram } from '../../support/store-program.js';

/** Commands that use one data folder's embedded Redis at the same time. */

export const open = (dataFolder: string): Promise<Store> =>
  openStore({ redisUrl: null, dataFolder, clientName: 'test', logger: pino({ level: 'silent' }) });

export async function serverPidOf(store: Store): Promise<number> {
  return Number(/process_id:(\d+)/.exec(await store.ledger.info('server'))?.[1]);
}

/** Starts so many commands at once on an empty folder: they share one server, and the last one ends it. */
export async function oneServerForAll(folder: string, count: number): Promise<void> {
  const programs = Array.from({ length: count }, () => startStoreProgram(folder));
  const opened = await Promise.all(programs.map((program) => program.opened));
  expect(new Set(opened.map(({ serverPid }) => serverPid)).size).toBe(1);
  expect(opened.map((one) => one.count).sort((a, b) => a - b)).toEqual(
    Array.from({ length: count }, (_, index) => index + 1),
  );

  const serverPid = opened[0]?.serverPid ?? 0;
  const [last, ...others] = programs;
  await Promise.all(others.map((program) => program.close()));
  expect(isAlive(serverPid)).toBe(true);
  await last?.close();
  expect(isAlive(serverPid)).toBe(false);
}

/**
 * Three loops open and close the folder's store. Each is always the last user or the first, so that nearly every
 * opening crosses a shutdown.
 */
export async function openAcrossShutdowns(folder: string, rounds: number): Promise<void> {
  const loop = async () => {
    for (let round = 0; round < rounds; round += 1) {
      const store = await open(folder);
      await store.ledger.incr('commands');
      await store.close();
    }
  };
  await Promise.all([loop(), loop(), loop()]);
  const store = await open(folder);
  expect(await store.ledger.get('commands')).toBe(String(3 * rounds));
  const pid = await serverPidOf(store);
  await store.close();
  expect(isAlive(pid)).toBe(false);
}
