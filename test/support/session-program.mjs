// A sending process reduced to its session: opens one in a data folder, says its entry, waits to be told.
// argv: data folder. stdin: a line `close`, or its end. stdout: the session's entry as one JSON line.
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const dist = resolve(process.env.ALMONER_TEST_DIST ?? 'dist');
const { recovery } = await import(pathToFileURL(resolve(dist, 'ledger/index.js')).href);
const [dataFolder = ''] = process.argv.slice(2);

const session = await recovery.Session.open('run', dataFolder);
process.stdout.write(`${JSON.stringify(session.entry)}\n`);
for await (const line of createInterface({ input: process.stdin })) if (line === 'close') break;
await session.close();
process.stdin.destroy();
