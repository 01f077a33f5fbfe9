// A large batch half done, everything killed, the store included: how long until the next request leaves?
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openOperator } from './stage/almoner.mjs';
import { writeCsv } from './stage/files.mjs';
import { startRealm } from './stage/realm.mjs';
import { printTable, QUICK, saveResult } from './stage/results.mjs';

const ROWS = QUICK ? 20_000 : 1_000_000;
const WORKED = QUICK ? 500 : 5_000;
const realm = await startRealm({ members: 2_000 });
// The embedded store, as on a laptop: it is killed along with everything else.
const operator = await openOperator({ realm });
const file = await writeCsv(join(operator.folder, 'rows.csv'), ROWS, { members: 2_000 });
const rows = [];
const applied = async () => (await realm.appliedAt()).length;

const run = operator.start(['run', file, '--yes', '--json']);
while ((await applied()) < WORKED) await sleep(100);
run.child.kill('SIGKILL');
await run.ended;
process.kill(
  Number(await readFile(join(operator.env.ALMONER_DATA, 'redis', 'server.pid'), 'utf8')),
  'SIGKILL',
);
await sleep(500);
const before = await applied();
const begin = performance.now();
const again = operator.start(['resume', 'last', '--json']);
await again.ended;
const worker = operator.start(['worker']);
while ((await applied()) <= before) await sleep(20);
rows.push({
  rows: ROWS,
  'paid before the kill': before,
  'seconds to the first new request': (performance.now() - begin) / 1000,
});
worker.child.kill('SIGTERM');
await worker.ended;
await operator.json('cancel', 'last').catch(() => {});
await operator.close();
await realm.stop();
printTable('Resume: everything killed in the middle', rows);
saveResult('resume', { rows });
process.exit(0);
