import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { JournalFile } from './folder.js';
import { decodeEntry, type Intent, type JournalEntry, type JournalHead, type JournalResult } from './line.js';
import { allRead, fileOpened, lineRead, lineTorn, UNREAD } from './wholeness.js';

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
  /** Every line that was ever acted on is here (see wholeness.ts). */
  readonly whole: boolean;
  /** The first line that cannot be read although others follow it; null where there is none. */
  readonly damage: JournalDamage | null;
};

export type JournalDamage = { readonly path: string; readonly line: number };

/** What the lines of a journal say of the realm asked for, as far as they were read. */
type Told = {
  head: JournalHead | undefined;
  works: boolean;
  ended: boolean;
  seqSeen: number;
  readonly attempts: Map<string, Attempt>;
};

/** Reads the files of one session, oldest first. Undefined when no head can be read, and none is known otherwise. */
export async function readSessionJournal(
  files: readonly JournalFile[],
  realm: string,
  knownHead?: JournalHead,
): Promise<SessionJournal | undefined> {
  const told: Told = { head: knownHead, works: false, ended: false, seqSeen: 0, attempts: new Map() };
  let wholeness = UNREAD;
  let torn: JournalDamage | null = null;
  let damage: JournalDamage | null = null;
  let [lines, read] = [0, 0];
  for (const { path, number } of files) {
    wholeness = fileOpened(wholeness, number);
    if (wholeness.fault === 'damaged') damage ??= torn;
    const before = lines;
    for await (const text of linesOf(path)) {
      const entry = decodeEntry(text);
      lines += 1;
      if (entry === undefined && wholeness.tail === 'sound') torn = { path, line: lines - before };
      wholeness = entry === undefined ? lineTorn(wholeness) : lineRead(wholeness, entry);
      if (wholeness.fault === 'damaged') damage ??= torn;
      if (entry !== undefined) tell(told, entry, realm);
      read += entry === undefined ? 0 : 1;
    }
  }
  // The head is durable before anything else is written: without any readable line more than the end is lost.
  if (read === 0 && lines > 1) damage ??= torn;
  const { head, works, ended, seqSeen } = told;
  if (head === undefined) return undefined;
  const { session } = head;
  const attempts = withoutHistory([...told.attempts.values()]).map((attempt) => ({ session, ...attempt }));
  return { head, attempts, works, ended, seqSeen, whole: allRead(wholeness).fault === 'none', damage };
}

/**
 * The highest sequence of the realm in the last lines of a journal that its living session still writes; 0 where they
 * tell none. Only the end is read, because every command that starts beside a worker asks.
 */
export async function latestSequence(files: readonly JournalFile[], realm: string): Promise<number> {
  let latest = 0;
  // A file that was begun just now may hold nothing yet.
  for (const { path, bytes } of files.slice(-2)) {
    const [, ...lines] = (await endOf(path, bytes)).split('\n');
    for (const text of lines) {
      const entry = decodeEntry(text);
      if (entry?.kind === 'intent' && entry.intent.realm === realm)
        latest = Math.max(latest, entry.intent.seq);
    }
  }
  return latest;
}

/** Empty for a file that was removed meanwhile. */
async function endOf(path: string, bytes: number): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return '';
  try {
    const from = Math.max(0, bytes - END_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2 * END_BYTES), 0, 2 * END_BYTES, from);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Some hundred attempts. */
const END_BYTES = 64 * 1024;

/** In place: a journal holds hundreds of thousands of attempts. */
function tell(told: Told, entry: JournalEntry, realm: string): void {
  const { attempts } = told;
  switch (entry.kind) {
    case 'head':
      told.head = entry.head;
      break;
    case 'works':
      told.works ||= entry.realm === realm;
      break;
    case 'leaves':
      told.works &&= entry.realm !== realm;
      break;
    case 'end':
      told.ended = true;
      break;
    case 'intent':
      if (entry.intent.realm !== realm) break;
      told.seqSeen = Math.max(told.seqSeen, entry.intent.seq);
      attempts.set(entry.intent.nonce, { intent: entry.intent, result: null });
      break;
    case 'result': {
      const attempt = attempts.get(entry.result.nonce);
      // The first result of an attempt counts.
      if (attempt?.result === null) attempts.set(entry.result.nonce, { ...attempt, result: entry.result });
      break;
    }
    case 'unsent':
      // As if it had never been begun: the attempt before it counts again.
      attempts.delete(entry.nonce);
      break;
    case 'continues':
      break;
  }
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
