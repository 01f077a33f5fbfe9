import type { ErrorCode } from '../core/errors/catalogue.js';
import type { MemberId } from '../core/ids.js';
import type { WalletVerdict } from '../realm/client/wallet-reply.js';
import type { AudienceRow } from './packed-audience.js';

/** What was read of a member by one call of the interface. */
export type FactRead =
  | { readonly kind: 'unasked' }
  /** `text` holds the fields that the rule names, as JSON, digit by digit as the realm wrote it. */
  | { readonly kind: 'found'; readonly text: string; readonly balance: string | null }
  | { readonly kind: 'absent'; readonly why: string };

/** A member of the audience with everything that a decision rests on. */
export type Candidate = {
  readonly row: AudienceRow;
  readonly wallet: WalletVerdict | null;
  /** The order that was given for this rule and period already. */
  readonly already: string | null;
  readonly member: FactRead;
  readonly web3: FactRead;
};

/** Why a member gets nothing, and what that means, for people. */
export const LEFT_OUT_WORDS = {
  already: 'has an award of this rule in this period already',
  wallet: 'wallet not in the realm',
  giver: 'is the member who gives',
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

/** One member's fate in a run, with the way to it; frozen with the run and shown by `rules explain`. */
export type Decision = {
  readonly member: MemberId;
  readonly line: number;
  readonly tokens: number;
  readonly leftOut: LeftOut | null;
  /** The fact, the order or the wallet that it is about. */
  readonly detail: string | null;
  /** What the condition gave; null where there is none, or where it was not asked. */
  readonly condition: boolean | null;
  /** What the award's expression gave, as it would be written. */
  readonly computed: string | null;
  /** The way from the computed value to the tokens, one sentence for each change. */
  readonly steps: readonly string[];
};

/** Something that stops the run before anything is paid. */
export type Stop = {
  readonly code: ErrorCode;
  readonly message: string;
  /** The place in the rule file, where an expression is at fault. */
  readonly line: number | null;
  readonly column: number | null;
};

/** A stop that is of the whole run and of no place in the rule file. */
export function runStop(code: ErrorCode, message: string): Stop {
  return { code, message, line: null, column: null };
}
