import { type Command, defineCommand, flagOf } from '../frame/command.js';
import { argument, usage } from '../frame/options.js';
import { loadCommand, TABLE } from '../frame/table.js';

const GLOBAL = ['--json', '--help', '--config', '--realm', '--log-level'];

/** Prints a completion script for a shell. */
export const completion: Command = defineCommand({
  name: 'completion',
  description: 'Prints a completion script for bash, zsh or fish.',
  arguments: { shell: argument('bash, zsh or fish') },
  examples: [
    'source <(almoner completion bash)',
    'almoner completion fish > ~/.config/fish/completions/almoner.fish',
  ],
  async run({ args, output }) {
    const { shell } = args;
    const scriptOf = SHELLS.get(shell);
    if (scriptOf === undefined)
      throw usage(`expected one of ${[...SHELLS.keys()].join(', ')}, got ${JSON.stringify(shell)}`);
    const commands = await Promise.all(
      TABLE.map(async (entry) => {
        const loaded = entry.name === 'completion' ? null : await loadCommand(entry);
        const own = Object.keys(loaded?.options ?? {}).map(flagOf);
        return { name: entry.name, summary: entry.summary, options: [...own, ...GLOBAL] };
      }),
    );
    const script = scriptOf(commands);
    output.print({ json: { shell, script }, text: script });
  },
});

/** The words that a shell completes: each command with its options and whether it takes a file. */
type Completable = {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly string[];
};

const SHELLS = new Map<string, (commands: readonly Completable[]) => string>([
  ['bash', bash],
  ['zsh', (all) => `#compdef almoner\nautoload -U +X bashcompinit && bashcompinit\n${bash(all)}`],
  ['fish', fish],
]);

/**
 * Completes first words, then second words, then options by the whole command name. Other words complete as files.
 */
function bash(commands: readonly Completable[]): string {
  const cases = commands.map(({ name, options }) => `    '${name}') words='${options.join(' ')}' ;;`);
  const groups = groupWords(commands).map(
    ([prefix, words]) => `    '${prefix}') words='${words.join(' ')}' ;;`,
  );
  return `# almoner completion: source this file, e.g. from ~/.bashrc
_almoner() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words='' path='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${groups.join('\n')}
  esac
  if [[ "$current" == -* ]]; then
    while [[ -n "$path" ]]; do
      case "$path" in
${cases.map((line) => `  ${line}`).join('\n')}
      esac
      [[ -n "$words" && "$words" == *--* ]] && break
      [[ "$path" == *' '* ]] || break
      path="\${path% *}"
    done
  fi
  if [[ -n "$words" ]]; then COMPREPLY=($(compgen -W "$words" -- "$current")); else COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _almoner almoner
`;
}

function fish(commands: readonly Completable[]): string {
  const lines = commands.flatMap(({ name, summary, options }) => {
    const words = name.split(' ');
    const [first = ''] = words;
    const rest = words.slice(1).join(' ');
    const seen = `__fish_seen_subcommand_from ${first}`;
    const offer =
      rest === ''
        ? [`complete -c almoner -n __fish_use_subcommand -a '${first}' -d '${escaped(summary)}'`]
        : [
            `complete -c almoner -n __fish_use_subcommand -a '${first}'`,
            `complete -c almoner -n '${seen}' -a '${rest}' -d '${escaped(summary)}'`,
          ];
    return [
      ...offer,
      ...options.map((option) => `complete -c almoner -n '${seen}' -l ${option.replace('--', '')}`),
    ];
  });
  return `# almoner completion: save as ~/.config/fish/completions/almoner.fish\n${[...new Set(lines)].join('\n')}\n`;
}

/** '' → first words; 'dead' → list show retry …; 'desk token' → add list revoke. */
function groupWords(commands: readonly Completable[]): [string, string[]][] {
  const groups = new Map<string, Set<string>>();
  for (const { name } of commands) {
    const words = name.split(' ');
    words.forEach((word, i) => {
      const prefix = words.slice(0, i).join(' ');
      groups.set(prefix, (groups.get(prefix) ?? new Set()).add(word));
    });
  }
  return [...groups].map(([prefix, words]) => [prefix, [...words]]);
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
}
