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

/** What a command line meets of the world. A process brings its own; nothing else in cli/ asks the process for it. */
export type Surroundings = {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stderr: Sink;
};

/** What every command is given, whatever its own arguments are. */
export type CommandBase = Surroundings & {
  readonly global: GlobalOptions;
  readonly output: Output;
  /** Loaded when first asked for; throws ALM_CONFIG_INVALID with every fault. */
  config(options?: Pick<ConfigInput, 'environmentRealm'>): Promise<Config>;
  /** The realm named by --realm, or the only one configured. */
  profile(): Promise<RealmProfile>;
  logger(): Promise<Logger>;
};

export type ArgumentSpecs = Readonly<Record<string, ArgumentSpec<unknown>>>;
export type OptionSpecs = Readonly<Record<string, OptionSpec<unknown>>>;
export type Given<S> = {
  readonly [K in keyof S]: S[K] extends { read(...given: never): infer T } ? T : never;
};

export type CommandContext<A extends ArgumentSpecs, O extends OptionSpecs> = CommandBase & {
  readonly args: Given<A>;
  readonly options: Given<O>;
};

export type CommandDescription<A extends ArgumentSpecs, O extends OptionSpecs> = {
  /** As typed: `plan`, `dead list`, `desk token add`. */
  readonly name: string;
  readonly description: string;
  /** In the order they are typed; the key is the placeholder in the help. */
  readonly arguments?: A;
  /** `skipInvalid` is typed `--skip-invalid`. */
  readonly options?: O;
  readonly examples?: readonly string[];
  /** Ends with 0 where nothing else is said. */
  run(context: CommandContext<A, O>): Promise<ExitStatus> | Promise<void>;
};

/** A command whose own types are sealed inside it: the frame hands over text and gets an exit status. */
export type Command = {
  readonly name: string;
  readonly description: string;
  readonly arguments: ArgumentSpecs;
  readonly options: OptionSpecs;
  readonly examples: readonly string[];
  start(base: CommandBase, given: GivenText): Promise<ExitStatus>;
};

export type GivenText = {
  readonly arguments: Readonly<Record<string, readonly string[]>>;
  readonly options: Readonly<Record<string, readonly string[] | boolean | undefined>>;
};

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

export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The one place where the compiler has to be told: each value was made by the `read` its type comes from. */
function readAll<S extends Readonly<Record<string, unknown>>>(
  specs: S | undefined,
  read: (spec: S[keyof S], name: string) => unknown,
): Given<S> {
  const entries = Object.entries(specs ?? {}).map(([name, spec]) => [name, read(spec as S[keyof S], name)]);
  return Object.fromEntries(entries) as Given<S>;
}
