import { LOCAL_NAME, type Person, type Requirement } from '../core/people.js';
import { spellMoment } from '../core/zones.js';
import { counted } from './spelling.js';

/** By the wall of the zone in which it was said. */
export function beginsWords(start: { readonly at: number; readonly zone: string } | null): string | null {
  return start === null ? null : spellMoment(start.at, start.zone);
}

/** When a second person has to say go. */
export function requirementWords({ overTokens, overRows }: Requirement): string {
  const limits = [
    ...(overTokens === null ? [] : [counted(overTokens, 'token')]),
    ...(overRows === null ? [] : [counted(overRows, 'order')]),
  ];
  if (limits.length === 0) return 'no second person is required';
  if (overTokens === 0 || overRows === 0) return 'a second person has to say go for everything';
  return `a second person has to say go for what one person prepares within a day beyond ${limits.join(' or ')}`;
}

/** Why somebody is not the second person; null where they are. `first`: who did it; null: nobody is known, or has. */
export function whyNotSecond(
  { name, roles }: Person,
  first: string | null,
  did: 'prepared' | 'asked for',
): string | null {
  if (name === LOCAL_NAME)
    return 'The link that the desk printed names nobody: sign in with a token of your own that has the role approver.';
  if (first !== null && first.toLowerCase() === name.toLowerCase())
    return `You ${did} it; somebody else has to say go.`;
  return roles.includes('approver')
    ? null
    : 'Saying go needs the role approver, which your token does not have.';
}

/** Of a rule that one person let run, or two for other members. */
export const NOT_BY_TWO =
  'No two people have said go for this text with its members as they are listed now: each batch that it makes waits for two.';

type Revoked = {
  readonly waiting: readonly string[];
  readonly rules: readonly {
    readonly realm: string;
    readonly rule: string;
    readonly lost: 'approval' | 'request';
  }[];
  readonly prepared: readonly string[];
};

/** What a revoked token changes, and what it leaves: of a batch the rest of a sentence that begins with it. */
export function revokedWords({
  waiting,
  rules,
  prepared,
}: Revoked): { readonly batch: string | null; readonly words: string }[] {
  return [
    ...waiting.map((batch) => ({
      batch,
      words: 'which they approved and which has not begun, waits for a second person again.',
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
      words: 'which they prepared, still waits for a second person.',
    })),
  ];
}

/** Why a batch waits for no second person (any more). `gate`: how it stands before it begins; null: it has begun, or is over. */
export function noSecondWords(
  state: string,
  gate: { readonly go: { readonly who: string } | null } | null,
): string {
  if (state === 'cancelled') return 'It was cancelled: nothing more of it is sent.';
  if (gate === null) return state === 'done' ? 'It is done.' : 'It has begun.';
  return gate.go === null
    ? 'Its realm requires no second person for it.'
    : `${gate.go.who} has said go for it.`;
}

/** What a go for a batch that has begun leads to. */
export function retryWords(letters: number): string {
  return letters === 0
    ? 'It has begun, and has no dead letters that could be retried.'
    : `For three days its ${counted(letters, 'dead letter')} may be retried; nothing is sent before somebody does.`;
}

type OnGo = {
  /** Of a batch that has begun: how many dead letters may be retried then. */
  readonly letters: number | null;
  readonly preparer: string | null;
  /** Why it would not begin even so, in a sentence: paused or halted. */
  readonly held: string | null;
  readonly start: { readonly at: number; readonly zone: string } | null;
  readonly now: number;
  /** Where it would begin in quiet hours: when they end. */
  readonly quietUntil: string | null;
};

/** What a second person's go leads to. */
export function onGoWords({ letters, preparer, held, start, now, quietUntil }: OnGo): string {
  if (preparer === null)
    return 'Nobody knows who prepared it: you count as the first person, and one more has to say go.';
  const isAhead = start !== null && start.at > now;
  const quiet = quietUntil === null ? '' : ` Those are quiet hours: nothing is sent before ${quietUntil}.`;
  const exactly = 'Your go is for exactly this.';
  if (letters !== null) return `${exactly} ${retryWords(letters)}`;
  if (held !== null) {
    const then = isAhead ? `, not before ${beginsWords(start)}` : '';
    return `${exactly} It does not begin by that alone. ${held} It begins when somebody resumes it${then}.${quiet}`;
  }
  if (isAhead) return `${exactly} It begins at ${beginsWords(start)}.${quiet}`;
  const over = start === null ? '' : ` Its set time, ${beginsWords(start)}, is over.`;
  return `${exactly}${over} It begins as soon as a worker takes it.${quiet}`;
}
