// Draws docs/images/performance.svg from the results that were kept (npm run bench -- --keep): node bench/chart.mjs
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const result = (name) =>
  JSON.parse(readFileSync(join(root, 'bench', 'results', `${name}.json`), 'utf8')).rows;
const WIDTH = 720;
const LABEL = 300;
const LINE = 26;

const panels = [
  {
    title: 'Throughput without a limit, file to report',
    bars: result('throughput').map((row) => ({
      label: row.way,
      value: row['rows/s'],
      text: `${Math.round(row['rows/s'])} rows/s`,
    })),
  },
  {
    title: 'Intake: bytes in Redis for one row',
    bars: result('intake')
      .filter((row) => row['bytes/row in Redis'] > 1)
      .map((row) => ({
        label: row.way,
        value: row['bytes/row in Redis'],
        text: `${Math.round(row['bytes/row in Redis'])} bytes`,
      })),
  },
  {
    title: 'Intake: processor time for one row, Redis included',
    bars: result('intake')
      .filter((row) => row['bytes/row in Redis'] > 1)
      .map((row) => {
        const micros = row['CPU µs/row'] + row['Redis CPU µs/row'];
        return { label: row.way, value: micros, text: `${micros.toFixed(0)} µs` };
      }),
  },
  {
    title: 'Pace: refused requests (429) in a run',
    bars: result('pace').map((row) => ({
      label: `${row.who} (${row.rate})`,
      value: row['429s'],
      text: `${row['429s']}`,
    })),
  },
];

let y = 10;
const parts = [];
for (const { title, bars } of panels) {
  const most = Math.max(...bars.map(({ value }) => value), 1);
  y += 20;
  parts.push(`<text x="10" y="${y}" class="title">${inXml(title)}</text>`);
  for (const { label, value, text } of bars) {
    y += LINE;
    const width = Math.max(1, (value / most) * (WIDTH - LABEL - 110));
    const kind = label.startsWith('almoner') ? 'ours' : 'peer';
    parts.push(
      `<text x="10" y="${y}">${inXml(label)}</text>`,
      `<rect x="${LABEL}" y="${y - 13}" width="${width.toFixed(1)}" height="16" rx="2" class="${kind}"/>`,
      `<text x="${(LABEL + width + 8).toFixed(1)}" y="${y}">${inXml(text)}</text>`,
    );
  }
  y += 24;
}
const style =
  'text{font:13px system-ui,sans-serif;fill:#333}.title{font-weight:600}.ours{fill:#2f7d5b}.peer{fill:#b7793f}';
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-label="Measured figures of almoner beside the usual ways"><style>${style}</style><rect width="100%" height="100%" fill="#fff"/>${parts.join('')}</svg>\n`;
mkdirSync(join(root, 'docs', 'images'), { recursive: true });
writeFileSync(join(root, 'docs', 'images', 'performance.svg'), svg);

function inXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
