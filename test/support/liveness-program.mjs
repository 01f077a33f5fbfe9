// An onlooker in a place of its own: says what can be told of sessions from there.
// argv: data folder. stdin: one entry a line, as JSON. stdout: a line each, alive, dead or elsewhere.
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const dist = resolve(process.env.ALMONER_TEST_DIST ?? 'dist');
const { recovery } = await import(pathToFileURL(resolve(dist, 'ledger/index.js')).href);
const [dataFolder = ''] = process.argv.slice(2);

const here = new recovery.Here(dataFolder);
for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${await here.liveness(JSON.parse(line))}\n`);
