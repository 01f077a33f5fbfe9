import { parse } from 'lossless-json';
import { Fraction } from '../core/fraction.js';
import { placeInside } from '../yaml/read-yaml.js';
import { celCell, celMap, celValue, spellValue } from './cel-values.js';
import type { Candidate, FactRead, Stop } from './decision.js';
import { evaluate } from './expression.js';
import { type FactsUsed, needsMember, needsWeb3 } from './facts-used.js';
import type { PlacedExpression, Rule } from './rule.js';

/**
 * One expression on one member. The result is a value, a fact that the member lacks, or a fault of the rule;
 * a wrong type is never taken for zero or false.
 */
export type Judged =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'missing'; readonly fact: string }
  | { readonly kind: 'fault'; readonly stop: Stop };

export type JudgeSetting = {
  readonly columns: readonly string[];
  /** What `run` holds. */
  readonly run: Readonly<Record<string, unknown>>;
};

function judge(
  rule: Pick<Rule, 'file'>,
  expression: PlacedExpression,
  candidate: Candidate,
  setting: JudgeSetting,
): Judged {
  const lacking = lackingFact(expression.used, candidate);
  if (lacking !== undefined) return { kind: 'missing', fact: lacking };
  const { row, member, web3 } = candidate;
  const result = evaluate(expression, {
    member: needsMember(expression.used) ? recordOf(member) : celMap([]),
    web3: needsWeb3(expression.used) ? recordOf(web3) : celMap([]),
    row: celMap(setting.columns.map((name, at) => [name, celCell(row.cells[at] ?? '')])),
    run: setting.run,
    balance: member.kind === 'found' && member.balance !== null ? BigInt(member.balance) : 0n,
  });
  if (result.kind !== 'fault') return result;
  return { kind: 'fault', stop: faultStop(rule, expression, candidate, result) };
}

/** The condition, which must be true or false. */
export function judgeCondition(
  rule: Rule,
  candidate: Candidate,
  setting: JudgeSetting,
): Judged & { readonly holds?: boolean } {
  if (rule.condition === null) return { kind: 'value', value: true, holds: true };
  const judged = judge(rule, rule.condition, candidate, setting);
  if (judged.kind !== 'value') return judged;
  if (typeof judged.value === 'boolean') return { ...judged, holds: judged.value };
  return wrongValue(rule, rule.condition, candidate, judged.value, 'true or false');
}

/** An award or a weight: a number that is not negative. */
export function judgeAmount(
  rule: Rule,
  expression: PlacedExpression,
  candidate: Candidate,
  setting: JudgeSetting,
): Judged & { readonly amount?: bigint | Fraction } {
  const judged = judge(rule, expression, candidate, setting);
  if (judged.kind !== 'value') return judged;
  const { value } = judged;
  if (typeof value === 'bigint' && value >= 0n) return { ...judged, amount: value };
  if (value instanceof Fraction && value.numerator >= 0n) return { ...judged, amount: value };
  const hint = rule.op === 'debit' ? '' : '; to take points, set `op: debit`';
  return wrongValue(rule, expression, candidate, value, `a number that is not negative${hint}`);
}

function wrongValue(
  rule: Pick<Rule, 'file'>,
  expression: PlacedExpression,
  candidate: Candidate,
  value: unknown,
  expected: string,
): Judged {
  const message = `It gives ${spellValue(value)}, expected ${expected}.`;
  return { kind: 'fault', stop: faultStop(rule, expression, candidate, { offset: 0, message }) };
}

function faultStop(
  { file }: Pick<Rule, 'file'>,
  expression: PlacedExpression,
  { row }: Candidate,
  fault: { readonly offset: number; readonly message: string },
): Stop {
  const { line, column } = placeInside(expression.written, fault.offset);
  return {
    code: 'ALM_RULE_VALUE',
    message: `${file}:${line}:${column}: ${expression.field} on member ${row.member}: ${fault.message}`,
    line,
    column,
  };
}

function lackingFact(used: FactsUsed, { member, web3 }: Candidate): string | undefined {
  if (needsMember(used) && member.kind !== 'found') return member.kind === 'absent' ? member.why : 'member';
  if (used.balance && member.kind === 'found' && member.balance === null) return 'balance';
  if (needsWeb3(used) && web3.kind !== 'found') return web3.kind === 'absent' ? web3.why : 'web3';
  return undefined;
}

function recordOf(fact: FactRead): unknown {
  return fact.kind === 'found' ? (celValue(parse(fact.text)) ?? celMap([])) : celMap([]);
}
