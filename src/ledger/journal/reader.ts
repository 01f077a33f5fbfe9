import { createReadStream } from 'node:fs';
import type { JournalFile } from './folder.js';
import { decodeEntry, type Intent, type JournalHead, type JournalResult } from './line.js';

/** One attempt as a journal tells it. Without a result, nobody can say whether it was applied. */
type Attempt = { readonly intent: Intent; readonly result: JournalResult | null };
export type JournaledAttempt = Attempt & { readonly session: string };

export type SessionJournal = {
  readonly head: JournalHead;
  /**
   * The attempts of the realm asked for, without those that a later attempt of the same order follows under a higher
   * number. A rollback of the store hands numbers out again: two attempts under one number are both here.
   */
  readonly attempts: readonly JournaledAttempt[];
  /** Whether the session ever worked for the realm asked for. */
  readonly works: boolean;
  /** It ended in order and said so; without this word only its whereabouts tell. */
  readonly ended: boolean;
  /** The highest sequence that the session had seen of that realm. */
  readonly seqSeen: number;
  /** Every line that was ever acted on is here. Only from such a journal follows that what it lacks was never sent. */
  readonly whole: boolean;
};

/** Reads the files of one session, oldest first. Undefined when not even its head can be read. */
export async function readSessionJournal(
  files: readonly JournalFile[],
  realm: string,
): Promise<SessionJournal | undefined> {
  let head: JournalHead | undefined;
  let seqSeen = 0;
  let damaged = 0;
  let works = false;
  let next = 1;
  let missing = 0;
  let last = 0;
  let unannounced = false;
  let ended = false;
  const attempts = new Map<string, Attempt>();
  for (const { path, number } of files) {
    if (number > next) missing += 1;
    next = Math.max(next, number + 1);
    // The file before says nothing of this one: it died in between, if nothing but a head stands here.
    unannounced = number > 1 && last < number;
    let torn = 0;
    for await (const text of linesOf(path)) {
      const entry = decodeEntry(text);
      if (entry === undefined) {
        torn += 1;
        continue;
      }
      // Something readable stands behind it: that was no torn tail but a damaged file.
      damaged += torn;
      torn = 0;
      if (unannounced && entry.kind !== 'head' && entry.kind !== 'works') missing += 1;
      switch (entry.kind) {
        case 'head':
          head = entry.head;
          break;
        case 'works':
          works ||= entry.realm === realm;
          break;
        case 'leaves':
          works &&= entry.realm !== realm;
          break;
        case 'end':
          ended = true;
          break;
        case 'intent':
          if (entry.intent.realm !== realm) break;
          seqSeen = Math.max(seqSeen, entry.intent.seq);
          attempts.set(entry.intent.nonce, { intent: entry.intent, result: null });
          break;
        case 'result': {
          const attempt = attempts.get(entry.result.nonce);
          if (attempt?.result === null)
            attempts.set(entry.result.nonce, { ...attempt, result: entry.result });
          break;
        }
        case 'unsent':
          // As if it had never been begun: the attempt before it counts again.
          attempts.delete(entry.nonce);
          break;
        case 'continues':
          last = entry.number;
          break;
      }
    }
    // A file that another follows was closed in order: it has no torn tail.
    if (number !== files.at(-1)?.number) damaged += torn;
  }
  if (head === undefined) return undefined;
  const { session } = head;
  return {
    head,
    attempts: withoutHistory([...attempts.values()]).map((attempt) => ({ session, ...attempt })),
    works,
    ended,
    seqSeen,
    whole: damaged === 0 && missing === 0 && (files.at(-1)?.number ?? 0) >= last,
  };
}

/** In the order of the journal, without the attempts that a later one of the same order follows under a higher number. */
function withoutHistory(attempts: readonly Attempt[]): Attempt[] {
  const highest = new Map<string, number>();
  return attempts
    .toReversed()
    .filter(({ intent }) => {
      const order = `${intent.batch}-${intent.index}`;
      const later = highest.get(order) ?? 0;
      highest.set(order, Math.max(later, intent.attempts));
      return later <= intent.attempts;
    })
    .reverse();
}

/** By line feeds alone: readline also parts lines at U+2028 on some versions of Node, and a realm's words may hold that. */
async function* linesOf(path: string): AsyncIterable<string> {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8' })) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
