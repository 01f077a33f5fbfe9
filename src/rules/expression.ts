import { TypeError as CelTypeError, Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js';
import { addExactNumbers, addMixedMembership, makeExact, mixMembership } from './exact-numbers.js';
import { type FactsUsed, factsUsed, type Misuse } from './facts-used.js';

/**
 * CEL as rules may use it: no functions that reach outside, limits on size and depth, and exact numbers (see
 * exact-numbers.ts). Expressions are data, so that they can be handed to a thread; rule-thread.ts limits their time.
 */
export type Expression = {
  readonly text: string;
  /** `bool`, `int`, `fraction`, `string`… or `dyn` where only the facts will tell. */
  readonly type: string;
  readonly used: FactsUsed;
};

/** Values as CEL knows them: bigint is a whole number, Fraction one with a fraction. */
export type Facts = Readonly<Record<string, unknown>>;

export type Evaluated =
  | { readonly kind: 'value'; readonly value: unknown }
  /** The expression asked for something that this member does not have. */
  | { readonly kind: 'missing'; readonly fact: string }
  | { readonly kind: 'fault'; readonly offset: number; readonly message: string };

const LIMITS = {
  maxAstNodes: 500,
  maxDepth: 32,
  maxListElements: 200,
  maxMapEntries: 50,
  maxCallArguments: 8,
};

const environment = createEnvironment();
const checking = addMixedMembership(createEnvironment());

type Program = ReturnType<Environment['parse']>;

/** An expression that came from elsewhere is parsed again when it is first used. */
const programs = new WeakMap<object, Program>();

function parsed(text: string, by: Environment): Program {
  const program = by.parse(text);
  makeExact(program.ast);
  return program;
}

function evaluable(text: string): Program {
  const program = parsed(text, environment);
  mixMembership(program.ast, (name) => environment.parse(`${name}(0)`).ast);
  return program;
}

/** `used` is null where the text could not even be parsed. */
export type Misused = { readonly misuses: readonly Misuse[]; readonly used: FactsUsed | null };

export function compileExpression(text: string): Expression | Misused {
  let program: Program;
  try {
    program = parsed(text, checking);
  } catch (error) {
    return { misuses: [misuse(error)], used: null };
  }
  const checked = program.check();
  const { used, misuses: found } = factsUsed(program.ast);
  // The check ends at the first type that does not fit; what else is wrong is seen without it.
  const misuses = checked.valid ? found : [misuse(checked.error), ...found];
  return misuses.length > 0 ? { misuses, used } : { text, type: checked.type ?? 'dyn', used };
}

export function evaluate(expression: Expression, facts: Facts): Evaluated {
  const program = programs.get(expression) ?? evaluable(expression.text);
  programs.set(expression, program);
  try {
    return { kind: 'value', value: program(facts) };
  } catch (error) {
    // Of a text or a number that outgrows the engine.
    if (error instanceof RangeError)
      return { kind: 'fault', offset: 0, message: `It becomes too large: ${error.message}.` };
    if (!(error instanceof EvaluationError) && !(error instanceof CelTypeError)) throw error;
    if (error.code === 'no_such_key') return { kind: 'missing', fact: factNamed(error) };
    return { kind: 'fault', offset: error.range?.start ?? 0, message: plainWords(error.summary) };
  }
}

/** The fact as the expression spells it: `web3.nfts`. */
function factNamed(error: EvaluationError | CelTypeError): string {
  const node = error.node;
  const written = node?.input?.slice(node.start, node.end) ?? '';
  return written === '' ? error.summary.replace(/^No such key: /, '') : written;
}

function misuse(error: unknown): Misuse {
  if (error instanceof ParseError || error instanceof CelTypeError || error instanceof EvaluationError)
    return { offset: error.range?.start ?? 0, message: plainWords(error.summary) };
  throw error;
}

function plainWords(summary: string): string {
  const words = summary
    .replace(/^no such overload: /, 'These do not go together: ')
    .replace(/^found no matching overload for /, 'There is no function ')
    .replaceAll(/dyn<(\w+)>/g, '$1')
    .replace(/^Unknown variable: (.*)/, 'There is no fact $1; expected member, web3, row, run or balance')
    .replace(/^Exceeded max/, 'The expression is too large: exceeded max');
  const first = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

function createEnvironment(): Environment {
  const made = new Environment({ limits: LIMITS, homogeneousAggregateLiterals: false })
    .registerVariable('member', 'map')
    .registerVariable('web3', 'map')
    .registerVariable('row', 'map')
    .registerVariable('run', 'map')
    .registerVariable('balance', 'int');
  return addExactNumbers(made);
}
