import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeReport } from '../../src/report/write-report.js';
import { lateVersion, soonVersion } from './two-versions.js';

/**
 * A process that writes a report and is killed in the midst of it: `staged N` when N files were begun,
 * `replaced N` when N files of the older report were replaced. It watches between any two of its own steps
 * and sends itself SIGKILL, since no outside process could hit moments as short as these.
 */
const [folder = '', version = '', moment = '', count = ''] = process.argv.slice(2);
const record = version === 'soon' ? soonVersion() : lateVersion();
const place = join(folder, record.batch.manifest.batch);
const before = moment === 'replaced' ? inodes() : new Map<string, number>();

function inodes(): Map<string, number> {
  return new Map(readdirSync(place).map((name) => [name, statSync(join(place, name)).ino]));
}

function reached(): number {
  if (moment === 'replaced') return [...inodes()].filter(([name, ino]) => before.get(name) !== ino).length;
  const mine = readdirSync(folder).find((name) => name.includes(`@${process.pid}@`));
  return mine === undefined ? 0 : readdirSync(join(folder, mine)).length;
}

function watch(): void {
  if (reached() >= Number(count)) process.kill(process.pid, 'SIGKILL');
  setImmediate(watch);
}

setImmediate(watch);
await writeReport(record, { folder, now: Date.now() });
process.exit(3);
