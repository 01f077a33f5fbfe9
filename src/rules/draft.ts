import type { Candidate, Decision, LeftOut } from './decision.js';
import type { Fraction } from './fraction.js';

/** A decision on its way. `amount` is what the award's expression gave; `tokens` what is left of it so far. */
export type Draft = {
  readonly candidate: Candidate;
  leftOut: LeftOut | null;
  detail: string | null;
  condition: boolean | null;
  amount: bigint | Fraction | null;
  computed: string | null;
  tokens: number;
  readonly steps: string[];
};

export function startDraft(candidate: Candidate): Draft {
  return {
    candidate,
    leftOut: null,
    detail: null,
    condition: null,
    amount: null,
    computed: null,
    tokens: 0,
    steps: [],
  };
}

export function leaveOut(draft: Draft, why: LeftOut, detail: string | null = null): void {
  draft.leftOut = why;
  draft.detail = detail;
  draft.tokens = 0;
}

export function finishDraft({ candidate, amount: _, ...draft }: Draft): Decision {
  return { member: candidate.row.member, line: candidate.row.line, ...draft };
}
