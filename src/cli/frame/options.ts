import { AlmonerError } from '../../core/errors/error.js';
import { MEMBER_ID_EXPECTED } from '../../core/ids.js';

/** The kinds of options and arguments. Each reads its own text, so that a command's `run` receives typed values. */
export type OptionSpec<T> = {
  readonly description: string;
  /** The placeholder of the value in the help; null for a switch. */
  readonly value: string | null;
  /** True where the option may be given several times. */
  readonly repeated: boolean;
  read(given: readonly string[] | boolean | undefined, flag: string): T;
};

export type ArgumentSpec<T> = {
  readonly description: string;
  readonly required: boolean;
  readonly variadic: boolean;
  read(given: readonly string[]): T;
};

export function flag(description: string): OptionSpec<boolean> {
  return { description, value: null, repeated: false, read: (given) => given === true };
}

export function text(value: string, description: string): OptionSpec<string | undefined> {
  return { description, value, repeated: false, read: last };
}

export function texts(value: string, description: string): OptionSpec<readonly string[]> {
  return { description, value, repeated: true, read: (given) => (Array.isArray(given) ? given : []) };
}

/** An option that takes a whole number within bounds. */
export function wholeNumber(
  value: string,
  description: string,
  bounds: { readonly min: number; readonly max?: number },
): OptionSpec<number | undefined> {
  const max = bounds.max ?? Number.MAX_SAFE_INTEGER;
  return {
    description,
    value,
    repeated: false,
    read(given, name) {
      const written = last(given);
      if (written === undefined) return undefined;
      const number = /^[0-9]{1,16}$/.test(written) ? Number(written) : Number.NaN;
      if (number >= bounds.min && number <= max) return number;
      const range = bounds.max === undefined ? `of at least ${bounds.min}` : `from ${bounds.min} to ${max}`;
      throw usage(`${name}: expected a whole number ${range}, got ${JSON.stringify(written)}`);
    },
  };
}

/** An option that takes one of several words. */
export function choice<const T extends readonly string[]>(
  values: T,
  description: string,
): OptionSpec<T[number] | undefined> {
  return {
    description,
    value: values.join('|'),
    repeated: false,
    read(given, name) {
      const written = last(given);
      const found = values.find((value) => value === written);
      if (written === undefined || found !== undefined) return found;
      throw usage(`${name}: expected one of ${values.join(', ')}, got ${JSON.stringify(written)}`);
    },
  };
}

/** Like `choice`, and may be given several times. */
export function choices<const T extends readonly string[]>(
  values: T,
  description: string,
): OptionSpec<readonly T[number][]> {
  const { read, ...one } = choice(values, description);
  return {
    ...one,
    repeated: true,
    read: (given, name) => (Array.isArray(given) ? given.flatMap((each) => read([each], name) ?? []) : []),
  };
}

export function argument(description: string): ArgumentSpec<string> {
  const read = (given: readonly string[]) => given[0] ?? '';
  return { description, required: true, variadic: false, read };
}

export function optionalArgument(description: string): ArgumentSpec<string | undefined> {
  return { description, required: false, variadic: false, read: (given) => given[0] };
}

/** Any number of words, also none. A command that needs one checks it itself. */
export function argumentList(description: string): ArgumentSpec<readonly string[]> {
  return { description, required: false, variadic: true, read: (given) => given };
}

/** A usage error, which ends with exit 2. */
export function usage(message: string, next?: string): AlmonerError {
  // Every usage error says that nothing was done, because options are read before the command starts.
  const whole = /Nothing was/.test(message) ? message : `${message}. Nothing was done.`;
  return new AlmonerError('ALM_CLI_USAGE', whole, next === undefined ? {} : { next });
}

/** The usage error for text that is no member id. */
export function notAMemberId(given: string): AlmonerError {
  return usage(`expected a member id of ${MEMBER_ID_EXPECTED}, got ${JSON.stringify(given)}`);
}

function last(given: readonly string[] | boolean | undefined): string | undefined {
  return Array.isArray(given) ? given.at(-1) : undefined;
}

export const BATCH = { BATCH: argument('a batch id, a unique prefix of one, or `last`') } as const;

export const RULE_FILE = { FILE: argument('rule file, or the name of a rule in jobs/') } as const;

export const YES = { yes: flag('do not ask before sending') } as const;

export const FIRST = { first: wholeNumber('N', 'pay N orders, report, and pause', { min: 1 }) } as const;

export const NEW_ADDRESS = {
  newAddress: flag('go on where the same realm id was paid under another address'),
} as const;

export const NEW_LEDGER = {
  newLedger: flag('go on where this machine has paid the realm from another ledger'),
} as const;

/** The reason of a person's action. The audit keeps it beside name and time. */
export const REASON = { reason: text('TEXT', 'why; kept in the audit') } as const;

/** Refuses an empty reason, because the audit must keep one. */
export function needReason(given: string | undefined): string {
  const reason = given?.trim() ?? '';
  if (reason === '') throw usage('This needs --reason TEXT: it is kept with the orders. Nothing was done.');
  return reason;
}
