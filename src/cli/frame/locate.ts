import { TABLE, type TableEntry } from './table.js';

/** Global options that take a value. Without this list the value would be taken for a command's name. */
const WITH_VALUE = new Set(['--config', '--realm', '--log-level']);

export type Located =
  | { readonly kind: 'command'; readonly entry: TableEntry }
  /** The first words of several commands, such as `dead` or `desk token`. */
  | { readonly kind: 'group'; readonly words: readonly string[]; readonly entries: readonly TableEntry[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' };

/** Finds the command before any module is loaded. The longest matching name wins; options may stand anywhere. */
export function locate(argv: readonly string[]): Located {
  const words = wordsOf(argv);
  if (words.length === 0) return { kind: 'none' };
  let best: TableEntry | undefined;
  for (const entry of TABLE) {
    const parts = entry.name.split(' ');
    const matches = parts.every((part, index) => part === words[index]);
    if (matches && entry.name.length > (best?.name.length ?? 0)) best = entry;
  }
  if (best !== undefined) return { kind: 'command', entry: best };
  const entries = TABLE.filter((entry) => entry.name.startsWith(`${words.join(' ')} `));
  return entries.length > 0 ? { kind: 'group', words, entries } : { kind: 'unknown' };
}

/** True where one of the options stands before a `--`, which ends all options. */
export function hasOption(argv: readonly string[], ...names: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? undefined : end).some((word) => names.includes(word));
}

function wordsOf(argv: readonly string[]): readonly string[] {
  const words: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (word === '--') break;
    if (WITH_VALUE.has(word)) index += 1;
    else if (!word.startsWith('-')) words.push(word);
  }
  return words;
}
