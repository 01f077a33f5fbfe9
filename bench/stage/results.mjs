import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { cleanUpAtExit } from './clean-up.mjs';
import { ROOT } from './dist.mjs';

// Every bench loads this module, also one that is started without bench/run.mjs.
cleanUpAtExit();

export const QUICK = process.argv.includes('--quick');
/** The documentation cites `results`; git ignores `latest`. */
const FOLDER = join(ROOT, 'bench', process.argv.includes('--keep') ? 'results' : 'latest');

export function printTable(title, rows) {
  console.log(`\n${title}`);
  const columns = Object.keys(rows[0] ?? {});
  const cells = rows.map((row) => columns.map((column) => spell(row[column])));
  const widths = columns.map((name, at) => Math.max(name.length, ...cells.map((row) => row[at].length)));
  const line = (row) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join('  ');
  console.log(line(columns));
  console.log(widths.map((width) => '-'.repeat(width)).join('  '));
  for (const row of cells) console.log(line(row));
}

export function spell(value) {
  if (value === null || value === undefined) return '–';
  if (typeof value !== 'number') return String(value);
  if (Number.isInteger(value)) return value.toLocaleString('en');
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2);
}

/** Writes the figures to a file: docs/performance.md is written from those that are kept. */
export function saveResult(name, result) {
  mkdirSync(FOLDER, { recursive: true });
  const document = {
    bench: name,
    at: new Date().toISOString(),
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGb: Math.round(totalmem() / 1e9),
      node: process.version,
      loadBefore: LOAD_BEFORE,
    },
    ...result,
  };
  const path = join(FOLDER, `${name}.json`);
  writeFileSync(path, `${JSON.stringify(document, null, 2)}\n`);
  console.log(`\nwritten to ${relative(process.cwd(), path)}`);
}

/** How busy the machine was before the bench began: figures of a busy machine are worth less. */
const LOAD_BEFORE = Number((loadavg()[0] ?? 0).toFixed(2));

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
