// A command reduced to what it does with the store: open, count itself, wait to be told, close.
// argv: data folder. stdin: a line `close`, or its end. stdout: one JSON line per step.
import { createInterface } from 'node:readline';
import pino from 'pino';
import { openStore } from '../../dist/runtime/redis/store.js';

const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);
const logger = pino({ level: process.env.ALMONER_LOG_LEVEL ?? 'silent' }, pino.destination(2));
const [dataFolder = ''] = process.argv.slice(2);

let store;
try {
  store = await openStore({ redisUrl: null, dataFolder, clientName: 'test', logger });
  const count = await store.ledger.incr('commands');
  const serverPid = Number(/process_id:(\d+)/.exec(await store.ledger.info('server'))?.[1]);
  say({ step: 'open', count, serverPid });
  for await (const line of createInterface({ input: process.stdin })) if (line === 'close') break;
  await store.close();
  say({ step: 'closed' });
} catch (error) {
  await store?.close();
  say({ step: 'failed', code: error.code ?? null, message: error.message });
  process.exitCode = 1;
} finally {
  process.stdin.destroy();
}
