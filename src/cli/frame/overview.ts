import type { Colours } from './colour.js';
import type { TableEntry } from './table.js';
import { version } from './version.js';

const FIRST_STEPS: readonly (readonly [string, string])[] = [
  ['almoner init', 'a first configuration and a sample file'],
  ['almoner rehearse jobs/airdrop.csv', 'try a file; nobody is paid'],
  ['almoner plan FILE', 'what the file would do, and how long it takes'],
  ['almoner run FILE', 'pay it'],
];

/** What somebody sees who types `almoner` for the first time. */
export function overview(entries: readonly TableEntry[], colours: Colours): string {
  const width = Math.max(...entries.map((entry) => entry.name.length)) + 2;
  const lines = [
    `${colours.bold('almoner')} ${version()}: pays realm members from CSV files and rules, each order at most once.`,
    '',
    colours.bold('First steps'),
    ...FIRST_STEPS.map(([command, what]) => `  ${command.padEnd(36)}${what}`),
  ];
  for (const group of new Set(entries.map((entry) => entry.group))) {
    lines.push(
      '',
      colours.bold(group),
      ...listed(
        entries.filter((entry) => entry.group === group),
        width,
      ),
    );
  }
  lines.push(
    '',
    'Every command takes --help, --json, --config FILE, --realm NAME and --log-level LEVEL.',
    'Without a configured realm everything is a rehearsal on the embedded realm service.',
  );
  return lines.join('\n');
}

export function groupOverview(words: readonly string[], entries: readonly TableEntry[]): string {
  const width = Math.max(...entries.map((entry) => entry.name.length)) + 2;
  return [`Usage: almoner ${words.join(' ')} <command> [options]`, '', ...listed(entries, width)].join('\n');
}

function listed(entries: readonly TableEntry[], width: number): readonly string[] {
  return entries.map((entry) => `  ${entry.name.padEnd(width)}${entry.summary}`);
}
