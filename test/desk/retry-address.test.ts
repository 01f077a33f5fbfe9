import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { startDesk } from '../support/program/desk.js';
import { startPickyRealm } from '../support/program/picky-realm.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const summary = z.object({ summary: z.object({ batch: z.string(), state: z.string() }) });
const task = z.object({ task: z.string(), state: z.string() });

/** A desk with one realm at two spellings of its address. */
async function startAtTwo() {
  const realm = await startPickyRealm();
  onTestFinished(() => realm.close());
  const file = join(await tempFolder(), 'almoner.config.yaml');
  const at = (baseUrl: string, keyEnv: string) => ({
    ...{ baseUrl, realmId: 'picky', keyEnv, certainty: 'manual', rate: 'none' },
  });
  const realms = {
    first: at(realm.url, 'FIRST_KEY'),
    second: at(realm.url.replace('127.0.0.1', 'localhost'), 'SECOND_KEY'),
  };
  await writeFile(file, JSON.stringify({ realms }));
  const env = { ALMONER_CONFIG: file, FIRST_KEY: 'key-of-the-first', SECOND_KEY: 'key-of-the-second' };
  const desk = await startDesk({ env });
  onTestFinished(() => desk.close());
  await desk.startWorker();
  const post = (path: string, body: object) => desk.call(path, { method: 'POST', body });
  return {
    ...{ realm, desk, post },
    /** The same row each time, until its batch is over. */
    async pay(name: string): Promise<string> {
      const body = 'member,tokens\n900001,3\n';
      const sent = await desk.call('/api/uploads?name=pay.csv', { method: 'POST', body });
      const { upload } = z.object({ upload: z.string() }).parse(sent.json());
      const start = await post(`/api/uploads/${upload}/start`, { realm: name, rows: 1, tokens: '3' });
      const { batch } = summary.parse(start.json()).summary;
      const state = async () =>
        summary.parse((await desk.call(`/api/batches/${batch}`)).json()).summary.state;
      await until('the batch to be done', async () => (await state()) === 'done', 30_000);
      return batch;
    },
  };
}

test('a retry stops where the realm was paid under another address since, until that is meant', async () => {
  const { realm, desk, post, pay } = await startAtTwo();
  const batch = await pay('first');
  realm.forgive('9');
  await pay('second');
  expect(realm.writes).toHaveLength(2);

  const stopped = await post('/api/dead/retry', { batch, realm: 'first', expect: 1 });
  expect([stopped.status, stopped.json()]).toMatchObject([
    422,
    {
      error: {
        code: 'ALM_PLAN_OTHER_ADDRESS',
        message: expect.stringMatching(/localhost:\d+ \(1 order paid.*Nothing was enqueued/),
      },
    },
  ]);
  const body = { batch, realm: 'first', expect: 1, newAddress: true };
  const started = task.parse((await post('/api/dead/retry', body)).json());
  const ended = async () => (await desk.call(`/api/tasks/${started.task}`)).json();
  await until('the task to end', async () => task.parse(await ended()).state === 'done');
  expect(await ended()).toMatchObject({ done: 1, refusedCount: 0 });
  await until('the order to be sent again', () => realm.writes.length === 3);
}, 60_000);
