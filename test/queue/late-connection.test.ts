import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readRecord } from '../../src/ledger/read/rows.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { startWorkerInProcess } from '../support/ledger/worker-in-process.js';
import { respond, startBareServer, startSocketServer, TEST_CERTIFICATE } from '../support/socket-server.js';
import { until } from '../support/until.js';

const bench = ledgersOnRedis();
const LONGER_THAN_FRESH_MS = 14_000;

test('an order whose connection is ready only after ten seconds is taken back, not sent', async () => {
  const realm = await startSocketServer((socket) => respond(socket, 200, '{"newBalance":1}'), { tls: true });
  onTestFinished(() => realm.stop());
  let aheadMs = 0;
  const now = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
  // The first connection is slow: its handshake takes longer than an order may wait.
  const slow = await startBareServer((socket) => {
    aheadMs = LONGER_THAN_FRESH_MS;
    const on = connect(realm.port, '127.0.0.1');
    on.on('error', () => {});
    socket.pipe(on).pipe(socket);
  });
  onTestFinished(() => slow.stop());

  const batch = await sealed(await bench.ledger(), [{}]);
  const timeouts = { connectMs: 5_000, tlsMs: 5_000, responseMs: 5_000, totalMs: 15_000 };
  const url = `https://127.0.0.1:${slow.port}`;
  await startWorkerInProcess(batch, bench.redis(), url, { timeouts }, undefined, { ca: TEST_CERTIFICATE });
  await until('the order to be paid', async () => (await readRecord(batch.ref, 1)).code === 'P');
  expect({ connections: slow.connections(), requests: realm.requests.length }).toEqual({
    connections: 2,
    requests: 1,
  });
});
