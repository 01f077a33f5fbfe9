// Writes the tables of measured figures into the pages of docs, from bench/results: node scripts/write-figures.mjs
//
// A page marks the place of a table, and the script fills it:
//   <!-- figures throughput -->                         every column of `rows` in bench/results/throughput.json
//   <!-- figures scale commands: rows, command -->      these columns of `commands`
//   <!-- end of figures -->
// The line above a table names the machine, Node, the load before the bench and the date, as the result has them.
import { readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const BLOCK =
  /(<!-- figures (?<bench>[a-z]+)(?: (?<part>[a-z]+))?(?:: (?<columns>[^>]+?))? -->\n).*?(<!-- end of figures -->)/gs;

/** The page with its tables as the results are now; `resultOf` reads the result of a bench. */
export function withFigures(page, resultOf) {
  return page.replace(BLOCK, (...found) => {
    const { bench, part = 'rows', columns } = found.at(-1);
    const result = resultOf(bench);
    const rows = [result[part]].flat();
    if (rows[0] === undefined) throw new Error(`bench/results/${bench}.json has no ${part}`);
    const names = columns?.split(',').map((name) => name.trim()) ?? Object.keys(rows[0]);
    const unknown = names.filter((name) => !(name in rows[0]));
    if (unknown.length > 0) throw new Error(`${bench} ${part} has no column ${unknown.join(', ')}`);
    return `${found[1]}\n${captionOf(result)}\n\n${tableOf(names, rows)}\n\n${found[5]}`;
  });
}

function captionOf({ bench, at, machine }) {
  const { cpu, cores, memoryGb, node, loadBefore } = machine;
  const where = `${cpu}, ${cores} cores, ${memoryGb} GB, Node ${node.replace(/^v/, '')}`;
  return `Bench \`${bench}\`, ${at.slice(0, 10)}: ${where}, load ${loadBefore} before the start.`;
}

function tableOf(names, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [
    line(names),
    `|${names.map((name) => (typeof rows[0][name] === 'number' ? '---:|' : '---|')).join('')}`,
    ...rows.map((row) => line(names.map((name) => spelled(row[name])))),
  ].join('\n');
}

/** Three digits of a measured number say all that it knows; counts stay whole. */
function spelled(value) {
  if (value === null || value === undefined) return '–';
  if (typeof value !== 'number') return String(value).replaceAll('|', '\\|');
  const shown = Number.isInteger(value) ? value : Number(value.toPrecision(3));
  return (Math.abs(shown) >= 100 ? Math.round(value) : shown).toLocaleString('en', {
    maximumFractionDigits: 9,
  });
}

/** Every page of docs that shows figures. */
export function pagesWithFigures() {
  return readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))
    .filter((page) => readFileSync(join(ROOT, page), 'utf8').includes('<!-- figures '));
}

export function keptResult(bench) {
  return JSON.parse(readFileSync(join(ROOT, 'bench', 'results', `${bench}.json`), 'utf8'));
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  for (const page of pagesWithFigures()) {
    const path = join(ROOT, page);
    writeFileSync(path, withFigures(readFileSync(path, 'utf8'), keptResult));
  }
