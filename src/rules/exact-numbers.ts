import { type ASTNode, type Environment, EvaluationError } from '@marcbachmann/cel-js';
import { childrenOf } from './facts-used.js';
import { Fraction } from './fraction.js';

/**
 * Numbers of expressions are exact: whole ones are CEL's `int`, others the type `fraction`, which stands in
 * place of CEL's `double`. The two mix (`balance * 0.05`), and there are `min` and `max`; an operator should
 * not need to know what a cast is.
 */
export function addExactNumbers(environment: Environment): Environment {
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
  // The other way round comes with these.
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

/** Makes fractions of the doubles that the parser has read, digit by digit from the text; `double()` likewise. */
export function makeExact(node: ASTNode): void {
  if (node.op === 'value' && typeof node.args === 'number') {
    const args = Fraction.parse(node.input.slice(node.start, node.end));
    if (args === undefined) throw new EvaluationError('This number is too long or too large', node);
    Object.assign(node, { args });
  }
  if (node.op === 'call' && node.args[0] === 'double') node.args[0] = 'fraction';
  for (const child of childrenOf(node.args)) makeExact(child);
}

/** Lets the check pass what `mixMembership` makes possible; beside CEL's own `in` it could not be evaluated. */
export function addMixedMembership(environment: Environment): Environment {
  for (const [left, right] of MIXED)
    environment.registerOperator(`${left} in list<${right}>`, () => {
      throw new EvaluationError('only for the check');
    });
  return environment;
}

/**
 * CEL's own `in` takes 1 and 1.0 for different, so that an exclusion `!(row.tier in [1, 2])` would pass over a cell
 * `1.0`. Both its sides are evaluated with every fraction that is whole as a whole number. Not before the check, which
 * would no longer see what cannot go together.
 */
export function mixMembership(node: ASTNode, wrap: (name: string) => ASTNode): void {
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

/** No name that an expression could say by accident. */
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
