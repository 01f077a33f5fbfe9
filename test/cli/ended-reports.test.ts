import { access, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { textField } from '../support/document.js';
import { Program } from '../support/program/program.js';
import type { WorkerBeside } from '../support/program/worker-beside.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

/** Workers write the report of an imported batch when it ends, whatever happens to one of them. */
let store: TestRedis;
let world: Program;
beforeAll(async () => {
  store = await startRedis();
  world = await Program.start({
    members: [{ member: '1', tokens: 100 }],
    env: { REDIS_URL: store.url },
  });
});
afterAll(async () => {
  await world.end();
  await store.stop();
});

const workers: WorkerBeside[] = [];
let log = '';
async function startWorker(): Promise<void> {
  const write = (line: string) => {
    log += line;
  };
  const logger = pino({ level: 'warn' }, { write });
  workers.push(await world.worker({ logger, reportEveryMs: 20 }));
}
async function stopWorkers(): Promise<void> {
  for (const worker of workers.splice(0)) await worker.stop();
}
afterEach(stopWorkers);

const imported = async (name: string) => {
  await world.file(`${name}.csv`, `member,tokens,reference\n1,5,${name}\n404,6,${name}-lost\n`);
  return textField(await world.run('import', `${name}.csv`, '--yes', '--json'), 'batch');
};
const summary = (batch: string) => join(world.folder, 'reports', batch, 'summary.json');
const reported = (batch: string) =>
  until('the report', () =>
    access(summary(batch)).then(
      () => true,
      () => false,
    ),
  );
const isDone = async (batch: string) =>
  textField(await world.run('status', batch, '--json'), 'state') === 'done';

/** The turn of a worker that failed or died runs out: Redis would remove it after at most 30 s. */
async function endTurns(): Promise<void> {
  const redis = store.client();
  const turns = await redis.keys('*:reports:*');
  expect(turns).not.toEqual([]);
  for (const turn of turns) {
    const seconds = await redis.ttl(turn);
    expect([turn, seconds > 0 && seconds <= 30]).toEqual([turn, true]);
    await redis.del(turn);
  }
}

describe('an imported batch that ends', () => {
  it('has its report by itself, also with two workers, and again when it was retried', async () => {
    await startWorker();
    await startWorker();
    const batch = await imported('first');
    await reported(batch);
    expect(JSON.parse(await readFile(summary(batch), 'utf8'))).toMatchObject({
      state: 'done',
      counts: { paid: 1, refused: 1 },
      checks: { countsTie: true },
    });
    await world.admin.putMembers('town', [{ member: '404', tokens: 0 }]);
    await rm(summary(batch));
    expect((await world.run('dead', 'retry', '--batch', batch, '--json')).status).toBe(0);
    await reported(batch);
    expect(JSON.parse(await readFile(summary(batch), 'utf8'))).toMatchObject({ counts: { paid: 2 } });
  });

  it('is paid although the folder cannot be written, and the next worker writes the report', async () => {
    await rm(join(world.folder, 'reports'), { recursive: true });
    await writeFile(join(world.folder, 'reports'), 'in the way');
    const batch = await imported('second');
    await startWorker();
    await until('the end', () => isDone(batch));
    await until('a word about it', () => log.includes('could not be written'));
    expect(log).toContain(batch);
    const later = await imported('third');
    await until('the next one to be paid', () => isDone(later));
    await stopWorkers();
    await rm(join(world.folder, 'reports'));
    await endTurns();
    await startWorker();
    await reported(batch);
    await reported(later);
  });
});
