import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { flagOf } from '../../src/cli/frame/command.js';
import { parseCommandLine } from '../../src/cli/frame/program.js';
import { loadCommand, TABLE } from '../../src/cli/frame/table.js';
import { CATALOGUE } from '../../src/core/errors/catalogue.js';
import {
  anchorsOf,
  codeLines,
  commandsOf,
  pagePaths,
  proseLines,
  relativeLinks,
  wordCount,
} from '../support/docs/pages.js';

const pages = pagePaths().map((path) => ({ path, text: readFileSync(path, 'utf8') }));

/** Folders whose tables keep to the limit as well. Elsewhere tables are written from the program, or list files. */
const SHORT_TABLES = ['docs/how-to/', 'docs/explanation/', 'docs/tutorial/'];
const LINE_MAX = 200;

const GLOBAL = ['--json', '--help', '--config', '--realm', '--log-level', '--version'];

/** Why a link leads nowhere; null where it does not. */
function broken(from: string, target: string): string | null {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? from : normalize(join(dirname(from), decodeURIComponent(file)));
  if (!existsSync(path)) return `${from}: no file ${target}`;
  if (anchor === undefined || statSync(path).isDirectory() || !path.endsWith('.md')) return null;
  return anchorsOf(readFileSync(path, 'utf8')).has(anchor) ? null : `${from}: no heading ${target}`;
}

/** The command that a line names, and the options that it has. */
async function commandIn(line: string) {
  const words = line.split(' ').slice(1);
  const entry = TABLE.filter(({ name }) => words.slice(0, name.split(' ').length).join(' ') === name)[0];
  return entry === undefined ? null : { entry, command: await loadCommand(entry) };
}

/** Decisions and the changelog tell of options that are gone. */
const current = pages.filter(({ path }) => !path.startsWith('docs/decisions/') && path !== 'CHANGELOG.md');

describe('every page', () => {
  test('links to files and headings that exist', () => {
    const links = pages.flatMap(({ path, text }) =>
      relativeLinks(text).map((target) => broken(path, target)),
    );
    expect(links.length).toBeGreaterThan(30);
    expect(links.filter((fault) => fault !== null)).toEqual([]);
  });

  test('has no line above 200 characters', () => {
    const long = pages.flatMap(({ path, text }) =>
      proseLines(text)
        .filter((line) => SHORT_TABLES.some((folder) => path.startsWith(folder)) || !line.startsWith('|'))
        .filter((line) => line.length > LINE_MAX)
        .map((line) => `${path}: ${line.slice(0, 60)}…`),
    );
    expect(long).toEqual([]);
  });

  test('names error codes that exist', () => {
    const unknown = current.flatMap(({ path, text }) =>
      [...text.matchAll(/`(ALM_[A-Z_]+[A-Z])`/g)]
        .map(([, code = '']) => code)
        .filter((code) => !Object.hasOwn(CATALOGUE, code))
        .map((code) => `${path}: ${code}`),
    );
    expect(unknown).toEqual([]);
  });

  test('names no command that does not exist, whatever kind of code it stands in', () => {
    const firstWords = new Set(TABLE.map(({ name }) => name.split(' ')[0]));
    const wrong = pages.flatMap(({ path, text }) =>
      [...commandsOf(text).inSentences, ...codeLines(text)]
        .map((line) => /^almoner ([a-z]+)/.exec(line)?.[1])
        .filter((word) => word !== undefined && !firstWords.has(word))
        .map((word) => `${path}: ${word}`),
    );
    expect(wrong).toEqual([]);
  });

  test('names commands with the options that they have', async () => {
    const faults: string[] = [];
    for (const { path, text } of current)
      for (const line of commandsOf(text).inSentences) {
        const found = await commandIn(line);
        const isGroup = TABLE.some(({ name }) => name.startsWith(`${line.split(' ')[1]} `));
        const known = [...GLOBAL, ...Object.keys(found?.command.options ?? {}).map(flagOf)];
        const flags = [...line.matchAll(/ (--[a-z0-9-]+)/g)].map(([, flag = '']) => flag);
        const unknown = flags.filter((flag) => !known.includes(flag));
        if ((found === null && !isGroup) || (found !== null && unknown.length > 0))
          faults.push(`${path}: ${line}`);
      }
    expect(faults).toEqual([]);
  });

  test('shows in its shell blocks command lines that the program takes', async () => {
    const faults: string[] = [];
    for (const { path, text } of current)
      for (const line of commandsOf(text).whole) {
        const found = await commandIn(line);
        const words = [...line.matchAll(/"[^"]*"|'[^']*'|\S+/g)].map(([word]) => word);
        const argv = words.slice(1).map((word) => word.replaceAll(/["']/g, ''));
        if (found === null || parses(found.command, argv) !== null) faults.push(`${path}: ${line}`);
      }
    expect(faults).toEqual([]);
  });
});

test('how many words the pages of docs have', () => {
  const words = pages.filter(({ path }) => path.startsWith('docs/')).map(({ path }) => wordCount(path));
  const sum = words.reduce((all, one) => all + one, 0);
  // Seen with `npx vitest run --project=quick test/docs/pages.test.ts`.
  process.stdout.write(`docs/**: ${sum} words\n`);
  expect(sum).toBeGreaterThan(0);
});

function parses(command: Parameters<typeof parseCommandLine>[1], argv: readonly string[]): string | null {
  try {
    const { kind } = parseCommandLine(argv, command);
    return kind === 'run' ? null : kind;
  } catch (error) {
    return String(error);
  }
}
