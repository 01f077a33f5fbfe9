import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** State diagrams and tables of docs/explanation/reliability.md, as a test compares them with the code. */

/** `from → to: script`, one for each script that makes the move. */
export function arrow(from: string, to: string, script: string): string {
  return `${from} → ${to}: ${script}`;
}

/** The text below a heading, up to the next heading. */
function section(heading: string): string {
  const [, after = ''] = readFileSync('docs/explanation/reliability.md', 'utf8').split(`\n${heading}\n`);
  return after.split(/\n##+ /)[0] ?? '';
}

/** Every arrow of the diagram below a heading. States go by the names that people read. */
export function diagramArrows(heading: string): string[] {
  const [, after = ''] = section(heading).split('```mermaid\n');
  const lines = (after.split('```')[0] ?? '').split('\n').map((line) => line.trim());
  const names = new Map(
    lines.flatMap((line) => {
      const [, name, id] = /^state "([^"]+)" as (\w+)$/.exec(line) ?? [];
      return name === undefined || id === undefined ? [] : [[id, name] as const];
    }),
  );
  return lines
    .flatMap((line) => {
      const [, from = '', to = '', scripts = ''] = /^(\S+) --> (\S+): (.+)$/.exec(line) ?? [];
      return scripts
        .split(', ')
        .filter((script) => script !== '')
        .map((script) => arrow(names.get(from) ?? from, names.get(to) ?? to, script));
    })
    .sort();
}

/** The arrows of a table whose first column is the state before, and whose other columns are scripts. */
export function tableArrows(heading: string, firstColumn: string): string[] {
  const rows = section(heading)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const at = rows.findIndex(([first]) => first === firstColumn);
  const [, ...scripts] = rows[at] ?? [];
  return rows
    .slice(at + 1)
    .flatMap(([from = '', ...cells]) =>
      cells.flatMap((cell, i) =>
        cell
          .split(', ')
          .flatMap((to) => (to === '' ? [] : [arrow(from, to, (scripts[i] ?? '').replaceAll('`', ''))])),
      ),
    )
    .sort();
}

/** The scripts whose own text does what the pattern looks for. */
export function scriptsThat(does: RegExp): string[] {
  return readdirSync('src/ledger', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.lua') && !path.startsWith('includes'))
    .filter((path) => does.test(readFileSync(join('src/ledger', path), 'utf8')))
    .map((path) => basename(path, '.lua'))
    .sort();
}
