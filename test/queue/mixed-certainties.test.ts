import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { readRecord } from '../../src/ledger/read/rows.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { startWorkerInProcess } from '../support/ledger/worker-in-process.js';
import { until } from '../support/until.js';

const bench = ledgersOnRedis();

/** A realm that honours keys or not; `patch` decides the fate of the n-th write. */
async function realmOf(
  patch: (n: number) => 'ok' | 'lost-before' | 'lost-after' | 'late',
  get: (n: number) => Promise<void> = async () => {},
) {
  let balance = 100;
  let [writes, reads] = [0, 0];
  const log: string[] = [];
  const server = createServer((request, response) => {
    const answer = (body: unknown) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString('utf8');
    });
    request.on('end', async () => {
      if (request.method === 'GET') {
        const n = ++reads;
        const shown = balance;
        await get(n);
        log.push(`GET ${shown}`);
        return answer({ id: '77', tokenBalance: shown, balance: shown, balances: { points: shown } });
      }
      const what = patch(++writes);
      const { tokens } = JSON.parse(body);
      if (what === 'late')
        setTimeout(() => {
          balance += Number(tokens);
          log.push(`late -> ${balance}`);
        }, 2_500);
      else if (what !== 'lost-before') balance += Number(tokens);
      log.push(`PATCH ${what} ${request.headers['idempotency-key']} -> ${balance}`);
      if (what === 'ok') return answer({ newBalance: balance });
      request.socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    log,
    balance: () => balance,
    writes: () => writes,
  };
}

test('a batch sealed under read-back is not misled by another batch that holds no members', async () => {
  const ledger = await bench.ledger();
  const realm = await realmOf((n) => (n === 1 ? 'lost-before' : 'ok'));
  const old = await sealed(ledger, [{ member: '77', tokens: 5 }], {
    id: 'old-batch',
    manifest: { certainty: 'readback' },
  });
  // The profile was edited since: the realm now honours keys.
  const profile = { certainty: 'idempotent', settleMs: 3_000 } as const;
  await startWorkerInProcess(old, bench.redis(), realm.url, profile);
  await until('unknown', async () => (await readRecord(old.ref, 1)).code === 'u' || undefined, 20_000);
  const fresh = await sealed(ledger, [{ member: '77', tokens: 5 }], {
    id: 'new-batch',
    manifest: { certainty: 'idempotent' },
  });
  await until('new paid', async () => (await readRecord(fresh.ref, 1)).code === 'P' || undefined, 20_000);
  await until(
    'old over',
    async () => ['P', 'D', 'X'].includes((await readRecord(old.ref, 1)).code) || undefined,
    30_000,
  );
  const codes = [(await readRecord(old.ref, 1)).code, (await readRecord(fresh.ref, 1)).code];
  // Two orders of 5 are called paid, so 5 have arrived for each.
  if (codes.every((code) => code === 'P')) expect(realm.balance()).toBe(110);
}, 60_000);
