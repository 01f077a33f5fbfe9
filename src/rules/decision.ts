import type { ErrorCode } from '../core/errors/catalogue.js';
import type { MemberId } from '../core/ids.js';
import type { WalletMembership } from '../realm/client/wallet-reply.js';
import type { AudienceRow } from './packed-audience.js';

/** The result of one interface call about a member. */
export type FactRead =
  | { readonly kind: 'unasked' }
  /** `text` holds the fields that the rule names, as JSON, with the digits that the realm wrote. */
  | { readonly kind: 'found'; readonly text: string; readonly balance: string | null }
  | { readonly kind: 'absent'; readonly why: string };

/** A member of the audience with all facts that its decision rests on. */
export type Candidate = {
  readonly row: AudienceRow;
  readonly wallet: WalletMembership | null;
  /** The order that was already paid for this rule and period. */
  readonly already: string | null;
  readonly member: FactRead;
  readonly web3: FactRead;
};

/** The reasons why a member gets no award, with their explanation for people. */
export const LEFT_OUT_WORDS = {
  already: 'has an award of this rule in this period already',
  wallet: 'wallet not in the realm',
  giver: 'is the giving member',
  condition: 'condition not met',
  missing: 'a fact is missing',
  zero: 'award is zero',
  floor: 'balance is at or below the floor',
  minimum: 'award below the minimum',
  limit: 'a limit was used up',
  fault: 'the rule could not be applied',
} as const;
export type LeftOut = keyof typeof LEFT_OUT_WORDS;
export const LEFT_OUT = Object.keys(LEFT_OUT_WORDS).filter(isLeftOut);

export function isLeftOut(why: unknown): why is LeftOut {
  return typeof why === 'string' && Object.hasOwn(LEFT_OUT_WORDS, why);
}

/**
 * The decision about one member in a run, with its steps. It is stored with the run, and `rules explain` shows it.
 */
export type Decision = {
  readonly member: MemberId;
  readonly line: number;
  readonly tokens: number;
  readonly leftOut: LeftOut | null;
  /** The fact, order or wallet that the reason is about. */
  readonly detail: string | null;
  /** The result of the condition. Null if there is none, or if it was not evaluated. */
  readonly condition: boolean | null;
  /** The result of the award's expression, as text. */
  readonly computed: string | null;
  /** How the computed value became the tokens: one sentence per change. */
  readonly steps: readonly string[];
};

/** A reason that stops the run before it pays anything. */
export type Stop = {
  readonly code: ErrorCode;
  readonly message: string;
  /** The place in the rule file, if an expression is at fault. */
  readonly line: number | null;
  readonly column: number | null;
};

/** A stop about the whole run, without a place in the rule file. */
export function runStop(code: ErrorCode, message: string): Stop {
  return { code, message, line: null, column: null };
}
