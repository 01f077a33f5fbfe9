import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { load } from './dist.mjs';
import { startRedis } from './redis.mjs';

const { createRealmAdmin } = await load('realm/server/admin.js');
const { realmKeys } = await load('realm/server/store.js');
export const REALM_ID = 'bench';

/** A realm service with a Redis of its own and so many members; the same for every contestant. */
export async function startRealm({ members, rate = null }) {
  const redis = await startRedis({ safe: false });
  const admin = createRealmAdmin(redis.client);
  await admin.putMembers(
    REALM_ID,
    Array.from({ length: members }, (_, i) => ({ member: memberId(i), tokens: 1000 })),
  );
  const child = fork(
    fileURLToPath(new URL('service.mjs', import.meta.url)),
    [JSON.stringify({ url: redis.url, realmId: REALM_ID, rate })],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  );
  const [{ url, key }] = await once(child, 'message');
  return {
    url,
    key,
    admin,
    pid: child.pid,
    setRate: (next) => child.send({ rate: next }),
    /** When each request came that was not refused for the rate, reads as well, and how many were. */
    async seen() {
      child.send('tell');
      return (await once(child, 'message'))[0];
    },
    /** Arrival times of all changes so far. */
    async appliedAt() {
      const lines = await redis.client.xrange(realmKeys(REALM_ID).applied, '-', '+');
      return lines.map(([id]) => Number.parseInt(id, 10));
    },
    async stop() {
      child.kill('SIGKILL');
      await once(child, 'close');
      await redis.stop();
    },
  };
}

export function memberId(index) {
  return String(100_000_000_000_000_000n + BigInt(index) * 7919n);
}
