import type { Readable } from 'node:stream';
import type { ExitStatus } from '../../core/errors/entry.js';
import type { RealmProfile } from '../../core/profile.js';
import type { Config, ConfigInput } from '../../runtime/config/config.js';
import type { Logger } from '../../runtime/logger.js';
import type { ArgumentSpec, OptionSpec } from './options.js';
import type { Output, Sink } from './output.js';

/** Options that every command takes. */
export type GlobalOptions = {
  readonly json: boolean;
  readonly config: string | undefined;
  readonly realm: string | undefined;
  readonly logLevel: string | undefined;
};

/** The parts of the process that a command line uses. Only main.ts takes them from `process`. */
export type Surroundings = {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stderr: Sink;
};

/** The context that every command gets, apart from its own arguments and options. */
export type CommandBase = Surroundings & {
  readonly global: GlobalOptions;
  readonly output: Output;
  /** Loads the configuration at the first call. Throws ALM_CONFIG_INVALID with every fault. */
  config(options?: Pick<ConfigInput, 'environmentRealm'>): Promise<Config>;
  /** The realm that --realm names, or the only one configured. */
  profile(): Promise<RealmProfile>;
  logger(): Promise<Logger>;
};

export type ArgumentSpecs = Readonly<Record<string, ArgumentSpec<unknown>>>;
export type OptionSpecs = Readonly<Record<string, OptionSpec<unknown>>>;
/** The typed values of a command's arguments or options. */
export type Given<S> = {
  readonly [K in keyof S]: S[K] extends { read(...given: never): infer T } ? T : never;
};

export type CommandContext<A extends ArgumentSpecs, O extends OptionSpecs> = CommandBase & {
  readonly args: Given<A>;
  readonly options: Given<O>;
};

/** A command as its module describes it, with the types of its own arguments and options. */
export type CommandDescription<A extends ArgumentSpecs, O extends OptionSpecs> = {
  /** The name as typed: `plan`, `dead list`, `desk token add`. */
  readonly name: string;
  readonly description: string;
  /** The arguments in the order they are typed. The key is the placeholder in the help. */
  readonly arguments?: A;
  /** The option `skipInvalid` is typed `--skip-invalid`. */
  readonly options?: O;
  readonly examples?: readonly string[];
  /** A run that returns no status ends with 0. */
  run(context: CommandContext<A, O>): Promise<ExitStatus> | Promise<void>;
};

/** A command with its own types hidden: it takes text from the parser and returns an exit status. */
export type Command = {
  readonly name: string;
  readonly description: string;
  readonly arguments: ArgumentSpecs;
  readonly options: OptionSpecs;
  readonly examples: readonly string[];
  start(base: CommandBase, given: GivenText): Promise<ExitStatus>;
};

/** The words of a command line as the parser found them, before their specs read them. */
export type GivenText = {
  readonly arguments: Readonly<Record<string, readonly string[]>>;
  readonly options: Readonly<Record<string, readonly string[] | boolean | undefined>>;
};

/** Turns a description into a command that the frame can run. */
export function defineCommand<const A extends ArgumentSpecs, const O extends OptionSpecs>(
  description: CommandDescription<A, O>,
): Command {
  const { arguments: argumentSpecs, options: optionSpecs, examples = [], run } = description;
  return {
    name: description.name,
    description: description.description,
    arguments: argumentSpecs ?? {},
    options: optionSpecs ?? {},
    examples,
    async start(base, given) {
      const args = readAll(argumentSpecs, (spec, name) => spec.read(given.arguments[name] ?? []));
      const options = readAll(optionSpecs, (spec, name) => spec.read(given.options[name], flagOf(name)));
      return (await run({ ...base, args, options })) ?? 0;
    },
  };
}

/** Spells an option's name as it is typed: `skipInvalid` is `--skip-invalid`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Reads all values. TypeScript cannot see that each value comes from the `read` of its own spec, hence the cast. */
function readAll<S extends Readonly<Record<string, unknown>>>(
  specs: S | undefined,
  read: (spec: S[keyof S], name: string) => unknown,
): Given<S> {
  const entries = Object.entries(specs ?? {}).map(([name, spec]) => [name, read(spec as S[keyof S], name)]);
  return Object.fromEntries(entries) as Given<S>;
}
