import { placeInside, type ValuePath, valueAt, type YamlSource } from '../yaml/read-yaml.js';
import { compileExpression } from './expression.js';
import type { FactsUsed } from './facts-used.js';
import type { RuleFault } from './fault.js';
import type { Award, PlacedExpression } from './rule.js';
import { RUN_FIELDS } from './run-facts.js';
import type { RulePart } from './schema.js';

export type Compiled = {
  readonly condition: PlacedExpression | null;
  readonly award: Award | null;
  readonly faults: readonly RuleFault[];
};

/** Compiles the expressions of a rule, and checks what they give and which columns they name. */
export function compileRule(
  file: string,
  source: YamlSource,
  input: RulePart,
  columns: readonly string[] | null,
): Compiled {
  const faults: RuleFault[] = [];
  const compile = (text: string, path: ValuePath, types: readonly string[]): PlacedExpression | null => {
    const field = path.join('.');
    const fault = (offset: number, message: string) =>
      faults.push({
        file,
        ...placeInside(source.written(path), offset),
        code: 'ALM_RULE_EXPRESSION',
        message: `${field}: ${message}`,
      });
    const compiled = compileExpression(text);
    if ('misuses' in compiled) {
      for (const { offset, message } of compiled.misuses) fault(offset, message);
      if (compiled.used !== null)
        for (const message of unknownNames(compiled.used, columns)) fault(0, message);
      return null;
    }
    if (!types.includes(compiled.type)) {
      fault(0, `It gives ${compiled.type}, expected ${types.filter((type) => type !== 'dyn').join(' or ')}.`);
    }
    for (const message of unknownNames(compiled.used, columns)) fault(0, message);
    if (!types.includes(compiled.type)) return null;
    return { ...compiled, field, written: source.written(path) };
  };
  const condition =
    input.condition === undefined ? null : compile(input.condition, ['condition'], ['bool', 'dyn']);
  const award = compileAward(input, compile);
  // What is plainly whole needs no rounding; anything else must say it, so that nobody is surprised by a point.
  if (
    award?.kind === 'computed' &&
    award.tokens.type !== 'int' &&
    valueAt(source.value, ['award', 'rounding']) === undefined
  )
    faults.push({
      file,
      ...source.place(['award']),
      code: 'ALM_RULE_FIELD',
      message: 'award.rounding: is missing; the award may be a fraction, so write floor, round or ceil.',
    });
  return { condition, award, faults };
}

const NUMBERS = ['int', 'fraction', 'dyn'];

function compileAward(
  { award }: RulePart,
  compile: (text: string, path: ValuePath, types: readonly string[]) => PlacedExpression | null,
): Award | null {
  const { share, tokens: written, rounding = null } = award ?? {};
  if (share !== undefined) {
    // Only one of the two may stand there; what is wrong with the other is told in the same look.
    if (typeof written === 'string') compile(written, ['award', 'tokens'], NUMBERS);
    const { pot, weight: text } = share;
    const weight = text === undefined ? null : compile(text, ['award', 'share', 'weight'], NUMBERS);
    return weight === null || pot === undefined ? null : { kind: 'share', pot, weight };
  }
  if (typeof written === 'number') return { kind: 'fixed', tokens: written };
  const tokens = written === undefined ? null : compile(written, ['award', 'tokens'], NUMBERS);
  return tokens === null ? null : { kind: 'computed', tokens, rounding };
}

/** A column or a part of the run's time that does not exist would leave everybody out. */
function unknownNames(used: FactsUsed, columns: readonly string[] | null): string[] {
  const messages: string[] = [];
  if (columns !== null && used.row instanceof Set)
    for (const name of used.row)
      if (!columns.includes(name))
        messages.push(`row.${name}: the audience has no such column; it has ${columns.join(', ')}.`);
  if (used.run instanceof Set)
    for (const name of used.run)
      if (!RUN_FIELDS.some((field) => field === name))
        messages.push(`run.${name}: there is no such field; there are ${RUN_FIELDS.join(', ')}.`);
  return messages;
}
