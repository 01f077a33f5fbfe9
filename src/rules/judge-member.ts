import { parse } from 'lossless-json';
import { Fraction } from '../core/fraction.js';
import { placeInside } from '../yaml/read-yaml.js';
import { celCell, celMap, celValue, spellValue } from './cel-values.js';
import type { Candidate, FactRead, Stop } from './decision.js';
import type { Evaluated, Evaluator } from './expression.js';
import { type FactsUsed, needs } from './facts-used.js';
import type { PlacedExpression, Rule } from './rule.js';

/**
 * The result of one expression on one member: a value, a fact that the member lacks, or a fault of the rule. A wrong
 * type is never read as zero or false.
 */
type MemberResult<T> =
  | { readonly kind: 'value'; readonly value: T }
  | Extract<Evaluated, { kind: 'missing' }>
  | { readonly kind: 'fault'; readonly stop: Stop };

/** The setting in which expressions are evaluated. */
export type JudgeSetting = {
  readonly columns: readonly string[];
  /** The content of the variable `run`. */
  readonly run: Readonly<Record<string, unknown>>;
  readonly evaluator: Evaluator;
};

type Expected<T> = { readonly is: (value: unknown) => value is T; readonly words: string };

function judge<T>(
  { file, expression }: { readonly file: string; readonly expression: PlacedExpression },
  candidate: Candidate,
  { columns, run, evaluator }: JudgeSetting,
  expected: Expected<T>,
): MemberResult<T> {
  const { used, field, written } = expression;
  const { row, member, web3 } = candidate;
  const lacking = lackingFact(used, candidate);
  if (lacking !== undefined) return { kind: 'missing', fact: lacking };
  const result = evaluator.evaluate(expression, {
    member: needs('member', used) ? recordOf(member) : celMap([]),
    web3: needs('web3', used) ? recordOf(web3) : celMap([]),
    row: celMap(columns.map((name, at) => [name, celCell(row.cells[at] ?? '')])),
    run,
    balance: member.kind === 'found' && member.balance !== null ? BigInt(member.balance) : 0n,
  });
  if (result.kind === 'missing') return result;
  if (result.kind === 'value' && expected.is(result.value)) return { kind: 'value', value: result.value };
  const { offset, message } =
    result.kind === 'fault'
      ? result
      : { offset: 0, message: `It gives ${spellValue(result.value)}, expected ${expected.words}.` };
  const place = placeInside(written, offset);
  const where = `${file}:${place.line}:${place.column}: ${field} on member ${row.member}`;
  return { kind: 'fault', stop: { code: 'ALM_RULE_VALUE', message: `${where}: ${message}`, ...place } };
}

/** Evaluates the condition, which must be true or false. Without a condition every member passes. */
export function judgeCondition(
  rule: Rule,
  candidate: Candidate,
  setting: JudgeSetting,
): MemberResult<boolean> {
  if (rule.condition === null) return { kind: 'value', value: true };
  return judge({ file: rule.file, expression: rule.condition }, candidate, setting, CONDITION);
}

const CONDITION: Expected<boolean> = { is: (value) => typeof value === 'boolean', words: 'true or false' };

/** Evaluates an award or a weight, which must be a number that is not negative. */
export function judgeAmount(
  rule: Rule,
  expression: PlacedExpression,
  candidate: Candidate,
  setting: JudgeSetting,
): MemberResult<bigint | Fraction> {
  const hint = rule.op === 'debit' ? '' : '; to take points, set `op: debit`';
  const expected = { is: isAmount, words: `a number that is not negative${hint}` };
  return judge({ file: rule.file, expression }, candidate, setting, expected);
}

function isAmount(value: unknown): value is bigint | Fraction {
  return value instanceof Fraction ? value.numerator >= 0n : typeof value === 'bigint' && value >= 0n;
}

/** The first fact that the expressions need and the candidate lacks. */
function lackingFact(used: FactsUsed, { member, web3 }: Candidate): string | undefined {
  if (needs('member', used) && member.kind !== 'found')
    return member.kind === 'absent' ? member.why : 'member';
  if (used.balance && member.kind === 'found' && member.balance === null) return 'balance';
  if (needs('web3', used) && web3.kind !== 'found') return web3.kind === 'absent' ? web3.why : 'web3';
  return undefined;
}

function recordOf(fact: FactRead): unknown {
  return fact.kind === 'found' ? (celValue(parse(fact.text)) ?? celMap([])) : celMap([]);
}
