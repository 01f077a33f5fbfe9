import { type ExpectedTokens, meetsTokens, spellExpected } from '../../core/op-sums.js';
import { shellWord } from '../../core/shell-word.js';
import { keptPairText } from '../../csv/kept-columns.js';
import { type FoundColumns, ofFile } from '../../csv/row.js';
import type { Plan } from '../../planning/plan.js';
import { counted, utcMinute } from '../../words/spelling.js';

/** What stands in for a person's look at the plan: expectations, and mappings that are repeated. */

type Expected = { readonly expectRows: number | null; readonly expectTokens: ExpectedTokens | null };

export function noteExpectations({ totals, findings }: Plan, { expectRows, expectTokens }: Expected): void {
  const fault = (message: string) => findings.fault(ofFile('ALM_PLAN_NOT_EXPECTED', message));
  if (expectRows !== null && totals.rows !== expectRows)
    fault(`The input has ${counted(totals.rows, 'row')}, --expect-rows says ${expectRows}.`);
  if (expectTokens === null) return;
  const meets = meetsTokens(expectTokens, totals.tokens);
  const sums = spellExpected(totals.tokens);
  if (meets === null)
    fault(
      `The input moves tokens in several directions (${sums}), and --expect-tokens gives one number for all of them. Say each: --expect-tokens ${sums}.`,
    );
  else if (!meets)
    fault(`The amounts of the input are ${sums}, --expect-tokens says ${expectedText(expectTokens)}.`);
}

function expectedText(expected: ExpectedTokens): string {
  if (typeof expected === 'string') return expected;
  return Object.entries(expected)
    .map(([direction, sum]) => `${direction}=${sum}`)
    .join(',');
}

/** The pairs of a kept mapping that a person must have seen, or repeat. */
export function unseenPairs(kept: FoundColumns['kept'] | undefined) {
  return (kept?.pairs ?? []).filter(({ effect }) => effect === 'changes' || effect === 'refused');
}

/**
 * A mapping is kept for convenience, and the next file with the header may be another person's. What it changes is said
 * in every plan; where nobody sees the plan it is a fault, so that no payment rests on it unsaid.
 */
export function noteKept({ found, findings }: Plan, unattended: boolean): void {
  const kept = found?.kept;
  if (kept == null) return;
  for (const pair of unseenPairs(kept)) {
    const said = `${kept.who} said --map ${shellWord(keptPairText(pair))} of this header on ${utcMinute(kept.at)}`;
    const effect =
      pair.effect === 'changes'
        ? 'Without it the file means something else.'
        : 'It is not taken, because a kept mapping never closes or moves a column that bears the name of a meaning.';
    const step = unattended
      ? ` Nobody sees this plan before it is paid: say --map ${pair.column}=COLUMN again, or take it back with --forget-map.`
      : '';
    findings[unattended ? 'fault' : 'warning'](ofFile('ALM_PLAN_KEPT_COLUMNS', `${said}. ${effect}${step}`));
  }
}
