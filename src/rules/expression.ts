import {
  type ASTNode,
  TypeError as CelTypeError,
  Environment,
  EvaluationError,
  ParseError,
} from '@marcbachmann/cel-js';
import { Fraction } from '../core/fraction.js';
import { childrenOf, type FactsUsed, factsUsed, type Misuse } from './facts-used.js';

/**
 * Gives expressions exact numbers. Whole numbers are CEL's `int`; other numbers have the type `fraction`, which
 * replaces CEL's `double`. The two mix (`balance * 0.05`), and `min` and `max` exist. An operator should not need to
 * know what a cast is.
 */
function addExactNumbers(environment: Environment): Environment {
  environment.registerType('fraction', Fraction);
  for (const [left, right] of PAIRS) {
    for (const [sign, compute] of Object.entries(ARITHMETIC))
      environment.registerOperator(`${left} ${sign} ${right}: fraction`, (a: Exact, b: Exact) =>
        compute(Fraction.of(a), Fraction.of(b)),
      );
    for (const [sign, holds] of Object.entries(COMPARISONS))
      environment.registerOperator(`${left} ${sign} ${right}`, (a: Exact, b: Exact) =>
        holds(Fraction.of(a).compare(Fraction.of(b))),
      );
  }
  // CEL derives the reverse operand order from these.
  for (const left of ['int', 'fraction'])
    environment.registerOperator(
      `${left} == fraction`,
      (a: Exact, b: Fraction) => Fraction.of(a).compare(b) === 0,
    );
  return environment
    .registerFunction(`${WHOLES}(dyn): dyn`, wholes)
    .registerOperator('-fraction', (a: Fraction) => a.negated())
    .registerFunction('int(fraction): int', (a: Fraction) => a.numerator / a.denominator)
    .registerFunction('string(fraction): string', String)
    .registerFunction('fraction(int): fraction', (a: bigint) => Fraction.of(a))
    .registerFunction('fraction(fraction): fraction', (a: Fraction) => a)
    .registerFunction('fraction(string): fraction', (text: string) => {
      const read = Fraction.parse(text);
      if (read === undefined) throw new EvaluationError(`${JSON.stringify(text)} is no number`);
      return read;
    })
    .registerFunction('min(dyn, dyn): dyn', (a: unknown, b: unknown) => (lesser('min', a, b) ? a : b))
    .registerFunction('max(dyn, dyn): dyn', (a: unknown, b: unknown) => (lesser('max', a, b) ? b : a));
}

/** Replaces the parser's doubles by fractions, read digit by digit from the text; `double()` likewise. */
function makeExact(node: ASTNode): void {
  if (node.op === 'value' && typeof node.args === 'number') {
    const args = Fraction.parse(node.input.slice(node.start, node.end));
    if (args === undefined) throw new EvaluationError('This number is too long or too large', node);
    Object.assign(node, { args });
  }
  if (node.op === 'call' && node.args[0] === 'double') node.args[0] = 'fraction';
  for (const child of childrenOf(node.args)) makeExact(child);
}

/**
 * Lets the type check pass expressions that `mixMembership` makes possible. They cannot be evaluated with CEL's own
 * `in`.
 */
function addMixedMembership(environment: Environment): Environment {
  for (const [left, right] of MIXED)
    environment.registerOperator(`${left} in list<${right}>`, () => {
      throw new EvaluationError('only for the check');
    });
  return environment;
}

/**
 * Rewrites `in`. CEL's own `in` treats 1 and 1.0 as different, so an exclusion `!(row.tier in [1, 2])` would miss a
 * cell `1.0`. Both sides are evaluated with every whole fraction turned into an integer. This happens after the type
 * check, which otherwise could no longer detect incompatible types.
 */
function mixMembership(node: ASTNode, wrap: (name: string) => ASTNode): void {
  for (const child of childrenOf(node.args)) mixMembership(child, wrap);
  if (node.op === 'in')
    for (const side of [0, 1] as const) {
      const inner = node.args[side];
      const call = wrap(WHOLES);
      if (call.op !== 'call') throw new Error('expected a call');
      call.args[1].splice(0, 1, inner);
      node.args[side] = Object.assign(call, { pos: inner.pos, start: inner.start, end: inner.end });
    }
}

/** A name that no expression uses by accident. */
const WHOLES = 'almoner_wholes';

function wholes(value: unknown): unknown {
  if (value instanceof Fraction)
    return value.numerator % value.denominator === 0n ? value.numerator / value.denominator : value;
  return Array.isArray(value) ? value.map(wholes) : value;
}

type Exact = bigint | Fraction;

const MIXED = [
  ['int', 'fraction'],
  ['fraction', 'int'],
] as const;
const PAIRS = [['fraction', 'fraction'], ...MIXED] as const;

const ARITHMETIC: Readonly<Record<string, (a: Fraction, b: Fraction) => Fraction>> = {
  '+': (a, b) => a.plus(b),
  '-': (a, b) => a.plus(b.negated()),
  '*': (a, b) => a.times(b),
  '/': (a, b) => {
    const inverse = b.inverse();
    if (inverse === undefined) throw new EvaluationError('division by zero');
    return a.times(inverse);
  },
};

const COMPARISONS: Readonly<Record<string, (compared: number) => boolean>> = {
  '<': (compared) => compared < 0,
  '<=': (compared) => compared <= 0,
  '>': (compared) => compared > 0,
  '>=': (compared) => compared >= 0,
};

function lesser(name: string, a: unknown, b: unknown): boolean {
  if (!isExact(a) || !isExact(b)) throw new EvaluationError(`${name} takes two numbers`);
  return Fraction.of(a).compare(Fraction.of(b)) <= 0;
}

function isExact(value: unknown): value is Exact {
  return typeof value === 'bigint' || value instanceof Fraction;
}

/**
 * CEL as rules may use it: no functions that reach outside, limits on size and depth, and exact numbers. An
 * expression is plain data, so it can be sent to a thread. rule-thread.ts limits its time.
 */
export type Expression = {
  readonly text: string;
  /** `bool`, `int`, `fraction`, `string`… or `dyn` if the type depends on the facts. */
  readonly type: string;
  readonly used: FactsUsed;
};

/** Facts as CEL values: a bigint is a whole number, a Fraction any other number. */
type Facts = Readonly<Record<string, unknown>>;

export type Evaluated =
  | { readonly kind: 'value'; readonly value: unknown }
  /** The expression uses a fact that this member does not have. */
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

/** `used` is null if the text could not be parsed. */
type Misused = { readonly misuses: readonly Misuse[]; readonly used: FactsUsed | null };

/** Parses and checks an expression. Returns its type and the facts that it uses, or its faults. */
export function compileExpression(text: string): Expression | Misused {
  let program: Program;
  try {
    program = parsed(text, checking);
  } catch (error) {
    return { misuses: [misuse(error)], used: null };
  }
  const checked = program.check();
  const { used, misuses: found } = factsUsed(program.ast);
  // The type check stops at the first mismatch. The other misuses are found without it.
  const misuses = checked.valid ? found : [misuse(checked.error), ...found];
  return misuses.length > 0 ? { misuses, used } : { text, type: checked.type ?? 'dyn', used };
}

/** Evaluates expressions. Each one is parsed at its first use, because it may come from another thread. */
export class Evaluator {
  private readonly programs = new Map<Expression, Program>();

  evaluate(expression: Expression, facts: Facts): Evaluated {
    const program = this.programs.get(expression) ?? evaluable(expression.text);
    this.programs.set(expression, program);
    return run(program, facts);
  }
}

/** Evaluates a parsed expression on the facts of one member. */
function run(program: Program, facts: Facts): Evaluated {
  try {
    return { kind: 'value', value: program(facts) };
  } catch (error) {
    // A text or number has become too large for the engine.
    if (error instanceof RangeError)
      return { kind: 'fault', offset: 0, message: `It becomes too large: ${error.message}.` };
    if (!(error instanceof EvaluationError) && !(error instanceof CelTypeError)) throw error;
    if (error.code === 'no_such_key') return { kind: 'missing', fact: factNamed(error) };
    return { kind: 'fault', offset: error.range?.start ?? 0, message: plainWords(error.summary) };
  }
}

/** The missing fact as the expression spells it: `web3.nfts`. */
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

/** Rewords the engine's messages for operators. */
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

/** Creates the CEL environment of rules: its variables, functions and limits. */
function createEnvironment(): Environment {
  const made = new Environment({ limits: LIMITS, homogeneousAggregateLiterals: false })
    .registerVariable('member', 'map')
    .registerVariable('web3', 'map')
    .registerVariable('row', 'map')
    .registerVariable('run', 'map')
    .registerVariable('balance', 'int');
  return addExactNumbers(made);
}
