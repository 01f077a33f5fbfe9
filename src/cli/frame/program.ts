import { CommanderError, Option, Command as Parser } from 'commander';
import { AlmonerError, messageOf } from '../../core/errors/error.js';
import { type Command, flagOf, type GivenText, type GlobalOptions } from './command.js';
import { usage } from './options.js';
import { TABLE } from './table.js';

/** The result of parsing: a command with its words, or a help text. */
export type Parsed =
  | { readonly kind: 'run'; readonly global: GlobalOptions; readonly given: GivenText }
  | { readonly kind: 'help'; readonly text: string };

/** Parses the words for one loaded command. Without one it knows all names and suggests the nearest. */
export function parseCommandLine(argv: readonly string[], command: Command | undefined): Parsed {
  let help = '';
  let parsed: Parsed | undefined;
  const root = new Parser('almoner')
    .exitOverride()
    .configureOutput({ writeOut: (text) => (help += text), writeErr: () => {} })
    .configureHelp({ showGlobalOptions: true })
    .helpCommand(false)
    .option('--json', 'print one JSON document on stdout and nothing else there')
    .option('--config <FILE>', 'configuration file (default: almoner.config.yaml, where there is one)')
    .option('--realm <NAME>', 'the realm, by its name or id, where more than one is configured')
    .option('--log-level <LEVEL>', 'fatal, error, warn, info, debug, trace or silent');

  for (const entry of TABLE) {
    const leaf = nested(root, entry.name.split(' ')).description(entry.summary);
    if (entry.name !== command?.name) continue;
    describe(leaf, command);
    leaf.action(() => {
      const given = givenTo(leaf, command);
      parsed = { kind: 'run', global: globalsOf(root), given };
    });
  }
  try {
    root.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return { kind: 'help', text: help.trimEnd() };
    throw usageOf(error, command);
  }
  if (parsed === undefined)
    throw usage('No command was recognised. Nothing was done.', 'Run `almoner` for a list.');
  return parsed;
}

/** The parser of a nested name such as `desk token add`, with the parents it needs. */
function nested(parent: Parser, words: readonly string[]): Parser {
  const [word, ...rest] = words;
  if (word === undefined) return parent;
  const found = parent.commands.find((each) => each.name() === word);
  return nested(found ?? parent.command(word), rest);
}

/** Adds a command's arguments, options and examples to the parser. */
function describe(leaf: Parser, command: Command): void {
  leaf.description(command.description);
  for (const [name, spec] of Object.entries(command.arguments)) {
    const placeholder = `${name.toUpperCase()}${spec.variadic ? '...' : ''}`;
    leaf.argument(spec.required ? `<${placeholder}>` : `[${placeholder}]`, spec.description);
  }
  for (const [name, spec] of Object.entries(command.options)) {
    const value = spec.value === null ? '' : ` <${spec.value}>`;
    const option = new Option(`${flagOf(name)}${value}`, spec.description);
    if (spec.value !== null) option.argParser(collect);
    leaf.addOption(option);
  }
  if (command.examples.length > 0)
    leaf.addHelpText('after', `\nExamples:\n${command.examples.map((example) => `  ${example}`).join('\n')}`);
}

/** Collects the words for a command, and refuses an option that was given twice. */
function givenTo(leaf: Parser, command: Command): GivenText {
  const values: Record<string, unknown> = leaf.opts();
  const options = Object.entries(command.options).map(([name, spec]) => {
    const value = values[name];
    const given = typeof value === 'boolean' ? value : textsOf(value);
    // Silently taking one of two contradicting values would be dangerous: these values decide about money.
    if (Array.isArray(given) && given.length > 1 && !spec.repeated)
      throw usage(`${flagOf(name)} was given ${given.length} times; it takes one value. Nothing was done.`);
    return [name, given] as const;
  });
  const positional: readonly unknown[] = leaf.processedArgs;
  return {
    arguments: Object.fromEntries(
      Object.keys(command.arguments).map((name, index) => [name, textsOf(positional[index]) ?? []]),
    ),
    options: Object.fromEntries(options),
  };
}

function globalsOf(root: Parser): GlobalOptions {
  const values: Record<string, unknown> = root.opts();
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    json: values.json === true,
    config: text(values.config),
    realm: text(values.realm),
    logLevel: text(values.logLevel),
  };
}

function collect(value: string, previous: unknown): readonly string[] {
  return [...(textsOf(previous) ?? []), value];
}

function textsOf(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.map(String) : undefined;
}

/** Turns an error of the parser into a usage error with a next step. */
function usageOf(error: CommanderError, command: Command | undefined): AlmonerError {
  const message = messageOf(error)
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .trim();
  const next =
    command === undefined ? 'Run `almoner` for a list.' : `Run \`almoner ${command.name} --help\`.`;
  return new AlmonerError('ALM_CLI_USAGE', `${message}. Nothing was done.`, { next });
}
