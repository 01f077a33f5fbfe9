import { type BatchId, type OrderId, orderId } from '../../core/ids.js';
import type { Intent, JournalResult } from '../journal/line.js';
import type { JournaledAttempt } from '../journal/reader.js';
import { BLOCK_ORDERS, batchKeys } from '../keys.js';
import { giveUpBatch } from '../moves/give-up.js';
import { isAnswer, type Merging, replay } from '../moves/replay.js';
import { isArchiveAway } from '../read/archive-file.js';
import { archivedRecord, batchSource } from '../read/batch-source.js';
import { batchNumber } from '../read/batches.js';
import { readFence } from '../read/fence.js';
import { askRealm, type RealmLedger } from '../realm-ledger.js';
import { decodeRecord, nonceMark, type OrderRecord, type StateCode } from '../record.js';
import { disarm } from './fence.js';

/**
 * Merging journals into the ledger: RESULT rolls an order forward, INTENT without RESULT makes it unknown
 * (a doubt under `manual`), and an attempt that is still under way in a living process is put back to
 * sending. Most attempts are known to the ledger already; they are sorted out by reading, not by scripts.
 */
export type Merged = {
  /** Orders that the ledger had forgotten something of. */
  readonly moved: number;
  /** Those among them of which nobody can say whether they were applied. */
  readonly unknown: number;
  /** Those among the unknown that are doubts now. */
  readonly doubts: number;
  /** Batches that this ledger did not have. */
  readonly recovered: readonly BatchId[];
  /** Attempts on orders that were paid, or called duplicate, without them: a second payment cannot be ruled out. */
  readonly second: readonly OrderId[];
};

/** What the ledger has of an attempt: nothing, no answer to it, or all there is to know. */
type Standing = 'forgotten' | 'unsettled' | 'known';

type Placed = { readonly attempt: JournaledAttempt; readonly no: string | undefined };

/** An attempt that the ledger has to be told of. */
type Tidings = Placed & { readonly standing: Standing };

const AT_ONCE = 200;

/**
 * What the ledger does not know yet. Reads only: what it has forgotten is counted before anything is written,
 * so that the fence can be lowered first.
 */
export async function tidingsFor(
  ledger: RealmLedger,
  attempts: readonly JournaledAttempt[],
): Promise<Tidings[]> {
  const tidings: Tidings[] = [];
  // In the order in which the ledger saw them: what released a member comes before what held it next.
  const sorted = [...attempts].sort((a, b) => a.intent.seq - b.intent.seq);
  for (let first = 0; first < sorted.length; first += AT_ONCE) {
    const chunk = await placesOf(ledger, sorted.slice(first, first + AT_ONCE));
    const standings = await ledger.scripts.ask('read orders', () =>
      Promise.all(chunk.map((one) => standingInStore(ledger, one))),
    );
    for (const [i, one] of chunk.entries()) {
      const found = standings[i] ?? 'forgotten';
      const standing =
        found === 'archived' ? await standingInArchive(ledger, one.no ?? '', one.attempt) : found;
      if (standing !== 'known') tidings.push({ ...one, standing });
    }
  }
  return tidings;
}

/**
 * The store has forgotten one of these attempts, and perhaps what others sent: nothing is sent until every journal was looked
 * at. Answers whether it has.
 */
export async function closeIfForgotten(
  ledger: RealmLedger,
  tidings: readonly Tidings[],
  { by, seen }: { readonly by: string; readonly seen: number },
): Promise<boolean> {
  const forgotten = tidings.filter(({ standing }) => standing === 'forgotten');
  if (forgotten.length === 0) return false;
  const { seq } = await readFence(ledger);
  const note = { at: Date.now(), seen: Math.max(seen, seq), found: seq, by, attempts: forgotten.length };
  const sinceMs = Math.min(...forgotten.map(({ attempt }) => attempt.intent.sentAt));
  await disarm(ledger, note, 'anyway', { sinceMs });
  return true;
}

async function placesOf(ledger: RealmLedger, attempts: readonly JournaledAttempt[]): Promise<Placed[]> {
  const batches = attempts.map(({ intent }) => intent.batch);
  const numbers = await askRealm(ledger, 'find batches', (redis, T) =>
    redis.hmget(`${T}:batches`, ...batches),
  );
  return attempts.map((attempt, at) => ({ attempt, no: numbers[at] ?? undefined }));
}

async function standingInStore(ledger: RealmLedger, { attempt, no }: Placed): Promise<Standing | 'archived'> {
  const { redis } = ledger.scripts;
  const { intent } = attempt;
  if (no === undefined) return 'forgotten';
  const keys = batchKeys(ledger.keyPrefix, no);
  const block = Math.floor((intent.index - 1) / BLOCK_ORDERS);
  const [text, [state, second]] = await Promise.all([
    redis.hget(keys.records(block), String(intent.index)),
    redis.hmget(keys.meta, 'state', 'second'),
  ]);
  if (state === 'archived') return isSaid(second ?? '', attempt) ? 'known' : 'archived';
  const standing = standingBy(decodeRecord(text), attempt);
  if (standing !== undefined) return standing;
  const [listed, history] = await Promise.all([
    redis.sismember(keys.attempts(intent.index), intent.nonce),
    redis.lrange(keys.details(intent.index), 0, -1),
  ]);
  if (listed === 1 || isNoted(history, intent)) return standingBeside(attempt);
  return 'forgotten';
}

/** An archive that is not here tells nothing, and neither does its batch. */
async function standingInArchive(
  ledger: RealmLedger,
  no: string,
  attempt: JournaledAttempt,
): Promise<Standing> {
  const { intent } = attempt;
  try {
    const record = decodeRecord((await archivedRecord({ ledger, no }, intent.index)) || null);
    const standing = standingBy(record, attempt);
    if (standing !== undefined) return standing;
    const history = await (await batchSource({ ledger, no })).details(intent.index);
    return isNoted(history, intent) ? standingBeside(attempt) : 'forgotten';
  } catch (error) {
    if (isArchiveAway(error)) return 'known';
    throw error;
  }
}

/** What the order's record says of an attempt. Undefined where only the order's history can tell. */
function standingBy(record: OrderRecord, { intent, result }: JournaledAttempt): Standing | undefined {
  const code = result === null ? null : decodeRecord(result.record).code;
  const answered = isAnswer(result);
  if (record.nonce === intent.nonce) {
    if (record.code === 's') return 'unsettled';
    // Its session was given up while it was sending, and the answer came after all.
    const givenUp = (record.code === 'u' || record.code === 'D') && answered;
    return givenUp || (code === 'P' && record.code !== 'P') ? 'unsettled' : 'known';
  }
  if (record.paidBy === nonceMark(intent.nonce)) return 'known';
  // A definite no adds nothing to what the ledger has come to since.
  if (answered && code !== 'P' && record.attempts >= intent.attempts) return 'known';
  return undefined;
}

/** Beside a payment it is a second one, which the history of an attempt that was given up does not tell. */
function standingBeside({ result }: JournaledAttempt): Standing {
  return isPaid(result) ? 'unsettled' : 'known';
}

function isNoted(history: readonly string[], { nonce }: Intent): boolean {
  return history.some((detail) => detail.includes(`"attempt":"${nonce}"`));
}

/** Whether the batch names the attempt as a possible second payment already; see includes/second.lua. */
function isSaid(second: string, { intent: { index, nonce }, result }: JournaledAttempt): boolean {
  const how = isPaid(result) ? ['P', 'A'] : [''];
  return how.some((word) => second.includes(` ${index}:${nonce}:${word}`));
}

function isPaid(result: JournalResult | null): boolean {
  return result !== null && decodeRecord(result.record).code === 'P';
}

/**
 * The batch has other rows than when the attempt was made, under the same orders or the same name: which of its orders
 * were sent is not known.
 */
async function doubtAll(context: Merging, intent: Intent): Promise<void> {
  const { scripts, keyPrefix } = context.ledger;
  const no = await batchNumber(context.ledger, intent.batch);
  if (no === null) return;
  await giveUpBatch(context, no, { message: MISFIT, at: Date.now() });
  const key = batchKeys(keyPrefix, no).attempts(intent.index);
  await scripts.ask('note attempt', (redis) => redis.sadd(key, intent.nonce));
}

const MISFIT =
  'a journal knows payments of this batch from when its file had other rows; which of them were sent is not known';
/** Puts an attempt back. Where another order stands in its place, all of that batch becomes a doubt. */
export async function putBack(
  context: Merging,
  attempt: JournaledAttempt,
): Promise<'misfit' | 'ahead' | 'second' | StateCode> {
  const answer = await replay(context, attempt);
  if (answer === 'misfit') await doubtAll(context, attempt.intent);
  return answer;
}

export async function mergeTidings(context: Merging, tidings: readonly Tidings[]): Promise<Merged> {
  const second: OrderId[] = [];
  const recovered = new Set<BatchId>();
  let [moved, unknown, doubts] = [0, 0, 0];
  for (const { attempt, no } of tidings) {
    const { batch, index } = attempt.intent;
    const answer = await putBack(context, attempt);
    if (no === undefined) recovered.add(batch);
    if (answer === 'second') second.push(orderId(batch, index));
    else if (answer !== 'ahead') {
      moved += 1;
      if (answer === 'u' || answer === 'D' || answer === 'misfit') unknown += 1;
      if (answer === 'D' || answer === 'misfit') doubts += 1;
    }
  }
  return { moved, unknown, doubts, recovered: [...recovered], second };
}
