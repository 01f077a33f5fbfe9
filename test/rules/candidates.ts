import { stringify } from 'lossless-json';
import { memberId } from '../../src/core/ids.js';
import { runFacts } from '../../src/rules/cel-values.js';
import { type DecideSetting, decide } from '../../src/rules/decide.js';
import type { Candidate, FactRead } from '../../src/rules/decision.js';
import { Evaluator } from '../../src/rules/expression.js';
import type { LoadedRule } from '../../src/rules/rule.js';

export const AT = Date.parse('2026-11-16T09:00:00Z');
const UNASKED: FactRead = { kind: 'unasked' };

export function found(record: unknown, balance: string | null = null): FactRead {
  return { kind: 'found', text: stringify(record) ?? 'null', balance };
}

/** The audience of a rule, with facts for each member by its id. */
export function candidatesOf(
  { audience }: LoadedRule,
  facts: Readonly<Record<string, Partial<Pick<Candidate, 'member' | 'web3' | 'wallet' | 'already'>>>> = {},
): Candidate[] {
  return audience.rows.map((row) => ({
    row,
    wallet: null,
    already: null,
    member: UNASKED,
    web3: UNASKED,
    ...facts[row.member],
  }));
}

export function settingOf(
  { rule, audience }: LoadedRule,
  changes: Partial<DecideSetting> = {},
): DecideSetting {
  return {
    columns: audience.columns,
    run: runFacts(rule, AT),
    evaluator: new Evaluator(),
    awardedInPeriod: 0n,
    maxTokensPerOrder: null,
    onMember: () => {},
    ...changes,
  };
}

export function decided(
  loaded: LoadedRule,
  facts: Parameters<typeof candidatesOf>[1] = {},
  changes: Partial<DecideSetting> = {},
) {
  return decide(loaded.rule, candidatesOf(loaded, facts), settingOf(loaded, changes));
}

/** `{ '101': 50 }`, for those who get something. */
export function awardsOf({ decisions }: ReturnType<typeof decide>): Record<string, number> {
  return Object.fromEntries(
    decisions.flatMap(({ member, tokens, leftOut }) =>
      leftOut === null ? [[memberId(member), tokens]] : [],
    ),
  );
}
