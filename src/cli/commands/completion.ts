import { type Command, defineCommand, flagOf } from '../frame/command.js';
import { completionScript, SHELLS } from '../frame/completion-scripts.js';
import { argument, usage } from '../frame/options.js';
import { loadCommand, TABLE } from '../frame/table.js';

const GLOBAL = ['--json', '--help', '--config', '--realm', '--log-level'];

export const command: Command = defineCommand({
  name: 'completion',
  description: 'Prints a completion script for bash, zsh or fish.',
  arguments: { shell: argument('bash, zsh or fish') },
  options: {},
  examples: [
    'source <(almoner completion bash)',
    'almoner completion fish > ~/.config/fish/completions/almoner.fish',
  ],
  async run({ args, output }) {
    const shell = SHELLS.find((known) => known === args.shell);
    if (shell === undefined)
      throw usage(`expected one of ${SHELLS.join(', ')}, got ${JSON.stringify(args.shell)}`);
    const commands = await Promise.all(
      TABLE.map(async (entry) => {
        const loaded = entry.name === 'completion' ? null : await loadCommand(entry);
        const own = Object.keys(loaded?.options ?? {}).map(flagOf);
        return { name: entry.name, summary: entry.summary, options: [...own, ...GLOBAL] };
      }),
    );
    const script = completionScript(shell, commands);
    output.print({ json: { shell, script }, text: script });
    return 0;
  },
});
