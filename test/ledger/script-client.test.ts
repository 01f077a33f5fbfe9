import { expect, test } from 'vitest';

import { ScriptClient } from '../../src/ledger/script-client.js';
import { ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';

const bench = ledgersOnRedis();

class ClusterAllFailedError extends Error {
  override name = 'ClusterAllFailedError';
}
const reply = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });

/** A client whose first answers are these errors, and the number of its calls. */
function failing(errors: readonly Error[], patienceMs = 10_000) {
  const left = [...errors];
  const scripts = new ScriptClient(bench.redis().client(), patienceMs, () => {});
  let asked = 0;
  const answer = scripts.ask('a question', async () => {
    asked += 1;
    const error = left.shift();
    if (error !== undefined) throw error;
    return 'answered';
  });
  return { answer, asked: () => asked };
}

test.each([
  new ClusterAllFailedError('Failed to refresh slots cache.'),
  new Error('None of startup nodes is available'),
  new Error("Cluster isn't ready and enableOfflineQueue options is false"),
  new Error('Too many Cluster redirections. Last error: Error: MOVED 1 127.0.0.1:1'),
  new Error('Command timed out'),
  new Error('Connection is closed.'),
  Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
  reply('CLUSTERDOWN The cluster is down'),
  reply('LOADING Redis is loading the dataset in memory'),
  reply("OOM command not allowed when used memory > 'maxmemory'."),
  reply(
    "ERR Error running script (call to f_1): @user_script:7: @user_script: 7: -OOM command not allowed when used memory > 'maxmemory'.",
  ),
])('asked again: %s', async (error) => {
  const { answer, asked } = failing([error, error]);
  expect(await answer).toBe('answered');
  expect(asked()).toBe(3);
});

test.each([
  reply("NOPERM this user has no permissions to run the 'evalsha' command"),
  reply('ERR the word OOMPH is not an error that passes'),
  new TypeError('a fault of this program'),
])('a read or a command of a person ends at once: %s', async (error) => {
  const { answer, asked } = failing([error]);
  await expect(answer).rejects.toBe(error);
  expect(asked()).toBe(1);
});

test('a store that stays lost is named once the patience is over', async () => {
  const away = Array.from({ length: 50 }, () => new ClusterAllFailedError('Failed to refresh slots cache.'));
  await expect(failing(away, 50).answer).rejects.toMatchObject({
    code: 'ALM_STORE_UNREACHABLE',
    message: expect.stringContaining('Failed to refresh slots cache.'),
  });
});
