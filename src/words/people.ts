import { LOCAL_NAME, type Person, type Requirement } from '../core/people.js';
import { spellMoment } from '../core/zones.js';
import { counted } from './spelling.js';

/** A set time in the zone in which it was given. */
export function beginsWords(start: { readonly at: number; readonly zone: string } | null): string | null {
  return start === null ? null : spellMoment(start.at, start.zone);
}

/** When a payment needs the approval of a second person. */
export function requirementWords({ overTokens, overRows }: Requirement): string {
  const limits = [
    ...(overTokens === null ? [] : [counted(overTokens, 'token')]),
    ...(overRows === null ? [] : [counted(overRows, 'order')]),
  ];
  if (limits.length === 0) return 'no approval is required';
  if (overTokens === 0 || overRows === 0) return 'a second person has to approve everything';
  return `a second person has to approve more than ${limits.join(' or ')} from one person within 24 hours`;
}

/**
 * Why a person cannot be the second person; null if they can. `first`: who did it; null if no token was used, or if
 * it was not done.
 */
export function whyNotSecond(
  { name, roles }: Person,
  first: string | null,
  did: 'prepared' | 'asked for',
): string | null {
  if (name === LOCAL_NAME)
    return 'The link that the desk printed does not identify a person: sign in with a token of your own that has the role approver.';
  if (first !== null && first.toLowerCase() === name.toLowerCase())
    return `You ${did} it; another person has to approve it.`;
  return roles.includes('approver')
    ? null
    : 'Approving needs the role approver, which your token does not have.';
}

/** Shown for a rule that one person approved, or that two approved with other members. */
export const NOT_BY_TWO =
  'This version of the rule and its member list has not been approved by two people: each batch that it makes waits for an approval.';

/** The effects of revoking a token, found before it is revoked. */
type Revoked = {
  readonly waiting: readonly string[];
  readonly rules: readonly {
    readonly realm: string;
    readonly rule: string;
    readonly lost: 'approval' | 'request';
  }[];
  readonly prepared: readonly string[];
};

/** The effects of revoking a token. For a batch, `words` continues a sentence that begins with the batch. */
export function revokedWords({
  waiting,
  rules,
  prepared,
}: Revoked): { readonly batch: string | null; readonly words: string }[] {
  return [
    ...waiting.map((batch) => ({
      batch,
      words: 'which they approved and which has not begun, waits for an approval again.',
    })),
    ...rules.map(({ realm, rule, lost }) => ({
      batch: null,
      words:
        lost === 'approval'
          ? `Rule ${rule} of realm ${realm} loses its approval, which they gave or asked for: it does not run until two people approve it again.`
          : `Rule ${rule} of realm ${realm} loses their request for its approval.`,
    })),
    ...prepared.map((batch) => ({
      batch,
      words: 'which they prepared, still waits for an approval.',
    })),
  ];
}

/**
 * Why a batch does not wait for an approval (any more). `gate`: its approval before it begins; null if it has begun
 * or is over.
 */
export function noApprovalWords(
  state: string,
  gate: { readonly approved: { readonly who: string } | null } | null,
): string {
  if (state === 'cancelled') return 'It was cancelled: no more of its orders are sent.';
  if (gate === null) return state === 'done' ? 'It is done.' : 'It has begun.';
  return gate.approved === null ? 'It needs no approval.' : `${gate.approved.who} has approved it.`;
}

/** What an approved retry allows. */
export function retryWords(letters: number): string {
  return `Within three days ${letters === 1 ? 'this dead letter' : `these ${counted(letters, 'dead letter')}`} may be retried once, in their present state; nothing is sent before a person retries them.`;
}

type After = {
  /** The number of dead letters of a retry; null for a batch. */
  readonly letters: number | null;
  readonly who: string | null;
  /** A sentence that says why it would not begin even with the approval: it is paused or halted. */
  readonly held: string | null;
  readonly start: { readonly at: number; readonly zone: string } | null;
  readonly now: number;
  /** The end of the quiet hours, if it would begin in them. */
  readonly quietUntil: string | null;
};

/** What happens after the approval. */
export function afterApprovalWords({ letters, who, held, start, now, quietUntil }: After): string {
  if (who === null)
    return 'It was prepared, or an order of it was retried, without a token, so that a second person cannot be told from the first, and cannot be approved. Cancel it, and make it again with a token.';
  const isAhead = start !== null && start.at > now;
  const quiet = quietUntil === null ? '' : ` Those are quiet hours: nothing is sent before ${quietUntil}.`;
  const exactly = 'Your approval is for exactly this, and is used once.';
  if (letters !== null) return `${exactly} ${retryWords(letters)}`;
  if (held !== null) {
    const then = isAhead ? `, not before ${beginsWords(start)}` : '';
    return `${exactly} The approval alone does not start it. ${held} It begins when a person resumes it${then}.${quiet}`;
  }
  if (isAhead) return `${exactly} It begins at ${beginsWords(start)}.${quiet}`;
  const over = start === null ? '' : ` Its set time, ${beginsWords(start)}, is over.`;
  return `${exactly}${over} It begins as soon as a worker takes it.${quiet}`;
}
