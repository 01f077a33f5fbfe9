import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { REALM_ID } from './realm.mjs';

const KEY = 'the-key-of-a-curt-realm';

/** A service that refuses and says no more than that; `set` is its limit, its strays and who else is on it. */
export async function startCurtRealm({ windowMs, seed, set }) {
  const child = fork(
    fileURLToPath(new URL('curt-service.mjs', import.meta.url)),
    [JSON.stringify({ realmId: REALM_ID, key: KEY, windowMs, seed, set })],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  );
  const [{ url }] = await once(child, 'message');
  return {
    url,
    key: KEY,
    /** The first request that came; nothing else is told without being asked. */
    first: once(child, 'message'),
    set: (changes) => child.send({ set: changes }),
    /** Requests, those of others, and changes, each with its time on the service's clock. */
    async seen() {
      child.send('tell');
      return (await once(child, 'message'))[0];
    },
    async stop() {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}
