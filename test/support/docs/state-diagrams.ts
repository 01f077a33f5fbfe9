import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Parses the state diagrams and tables of docs/explanation/reliability.md, so that a test can compare them with the
 * code.
 */

/** Formats `from → to: script`. Each script that makes the move has its own arrow. */
export function arrow(from: string, to: string, script: string): string {
  return `${from} → ${to}: ${script}`;
}

/** The text below a heading, up to the next heading. */
function section(heading: string): string {
  const [, after = ''] = readFileSync('docs/explanation/reliability.md', 'utf8').split(`\n${heading}\n`);
  return after.split(/\n##+ /)[0] ?? '';
}

/** Every arrow of the diagram below a heading. States carry the names that the page shows. */
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

/** The arrows of a table: the first column is the state before the move, the other columns are scripts. */
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

/** The scripts with source text that matches the pattern. */
export function scriptsThat(does: RegExp): string[] {
  return readdirSync('src/ledger', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.lua') && !path.startsWith('includes'))
    .filter((path) => does.test(readFileSync(join('src/ledger', path), 'utf8')))
    .map((path) => basename(path, '.lua'))
    .sort();
}
