import type { JournalEntry } from './line.js';

/**
 * Whether all lines of a journal that were ever acted on are there: a state machine over its files and lines, oldest
 * first. Only from a whole journal follows that what it lacks was never sent.
 *
 *   link    in-order      the file is the first one, or the file before announced it
 *           unannounced   the session died between beginning the file and announcing it, as long as the file holds only
 *                         its head and its realms
 *   tail    sound         the last line of the file so far could be read
 *           torn          it could not. At the very end the machine lost power, and the line was never acted on
 *   fault   none
 *           damaged       a line that cannot be read stands before a readable line or before a further file
 *           missing       a file, or the line that announced it, is not there. It may have been removed once it was settled,
 *                         so that damage is told before it
 */
export type Wholeness = {
  readonly file: number;
  /** The file that was announced last; the first needs no announcement. */
  readonly announced: number;
  readonly link: 'in-order' | 'unannounced';
  readonly tail: 'sound' | 'torn';
  readonly fault: 'none' | 'damaged' | 'missing';
};

export const UNREAD: Wholeness = { file: 0, announced: 1, link: 'in-order', tail: 'sound', fault: 'none' };

export function fileOpened(state: Wholeness, file: number): Wholeness {
  // A file that another follows was closed in order: it has no torn tail.
  const closed = state.tail === 'torn' ? faulty(state, 'damaged') : state;
  const reached = file > state.file + 1 ? faulty(closed, 'missing') : closed;
  const link = file > state.announced ? 'unannounced' : 'in-order';
  return { ...reached, file, link, tail: 'sound' };
}

export function lineTorn(state: Wholeness): Wholeness {
  return state.tail === 'torn' ? state : { ...state, tail: 'torn' };
}

/** Almost every line leaves the state as it is: then no object is made for it. */
export function lineRead(state: Wholeness, entry: JournalEntry): Wholeness {
  const readable: Wholeness = state.tail === 'torn' ? { ...faulty(state, 'damaged'), tail: 'sound' } : state;
  const linked = state.link === 'unannounced' && !isPreamble(entry) ? faulty(readable, 'missing') : readable;
  return entry.kind === 'continues' ? { ...linked, announced: entry.number } : linked;
}

export function allRead(state: Wholeness): Wholeness {
  return state.announced > state.file ? faulty(state, 'missing') : state;
}

/** Every file begins with these lines, before anything is sent under it. */
function isPreamble({ kind }: JournalEntry): boolean {
  return kind === 'head' || kind === 'works';
}

function faulty(state: Wholeness, fault: 'damaged' | 'missing'): Wholeness {
  return state.fault === 'none' || fault === 'damaged' ? { ...state, fault } : state;
}
