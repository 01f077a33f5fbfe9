import type { Explained } from '../../operations/rules/explain.js';
import { grouped } from '../../report/spelling.js';
import { LEFT_OUT_WORDS } from '../../rules/decision.js';

/** One member's decision, step by step: what `rules try` and `rules explain` print. */

export function explanationLines(explained: Explained): string[] {
  const { decision } = explained;
  const row = explained.columns.map((name, at) => `${name}=${explained.cells[at] ?? ''}`).join(', ');
  const held = decision.condition === null ? 'not judged' : decision.condition ? 'held' : 'did not hold';
  return [
    `  row        ${row}`,
    ...(explained.member === null ? [] : [`  member     ${explained.member}`]),
    ...(explained.balance === null ? [] : [`  balance    ${explained.balance}`]),
    ...(explained.web3 === null ? [] : [`  web3       ${explained.web3}`]),
    ...(explained.wallet === null ? [] : [`  wallet     ${explained.wallet}`]),
    `  condition  ${explained.condition === null ? 'none: everybody' : `${explained.condition}  → ${held}`}`,
    ...(decision.computed === null ? [] : [`  award      ${explained.award}  → ${decision.computed}`]),
    ...decision.steps.map((step) => `             ${step}`),
    decision.leftOut === null
      ? `  result     ${grouped(decision.tokens)} tokens`
      : `  result     left out: ${LEFT_OUT_WORDS[decision.leftOut]}${decision.detail === null ? '' : ` (${decision.detail})`}`,
  ];
}

/** Facts as JSON again, digit by digit where JSON.parse keeps them. */
export function explanationDocument(explained: Explained) {
  const json = (text: string | null): unknown => (text === null ? null : JSON.parse(text));
  return {
    ...explained.decision,
    facts: {
      row: Object.fromEntries(explained.columns.map((name, at) => [name, explained.cells[at] ?? ''])),
      member: json(explained.member),
      balance: explained.balance,
      web3: json(explained.web3),
      wallet: explained.wallet,
    },
    expressions: { condition: explained.condition, award: explained.award },
  };
}
