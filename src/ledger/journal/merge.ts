import { batchId, type OrderId, orderId } from '../../core/ids.js';
import { BLOCK_ORDERS, batchKeys } from '../keys.js';
import { giveUpBatch } from '../moves/give-up.js';
import { type FoundAttempt, isAnswer, type Merging, rollForward } from '../moves/roll-forward.js';
import { isArchiveAway } from '../read/archive-file.js';
import { archivedRecord, batchSource } from '../read/batch-source.js';
import { askRealm, type RealmLedger } from '../realm-ledger.js';
import { decodeRecord, nonceMark, type OrderRecord } from '../record.js';
import { readFence, storeSeen } from '../sessions/fence.js';
import type { Intent, JournalResult } from './line.js';
import { forgetParked, isParked, park, parkedAttempts } from './parked.js';
import type { JournaledAttempt } from './reader.js';

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
  /** Attempts of batches that this ledger does not have. */
  readonly parked: number;
  /** Attempts on orders that were paid, or called duplicate, without them: a second payment cannot be ruled out. */
  readonly second: readonly OrderId[];
};

/** What the ledger has of an attempt: nothing, no answer to it, or all there is to know. */
type Standing = 'forgotten' | 'unsettled' | 'known';

type Placed = { readonly attempt: FoundAttempt; readonly no: string | undefined };

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
  const placed = await placesOf(ledger, attempts);
  for (let first = 0; first < placed.length; first += AT_ONCE) {
    const chunk = placed.slice(first, first + AT_ONCE);
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

/** In the order in which the ledger saw them: what released a member comes before what held it next. */
async function placesOf(ledger: RealmLedger, attempts: readonly JournaledAttempt[]): Promise<Placed[]> {
  const numbers = await askRealm(ledger, 'list batches', (redis, T) => redis.hgetall(`${T}:batches`));
  const found = await foundByFormerId(ledger, attempts, numbers);
  return [...found]
    .sort((a, b) => a.intent.seq - b.intent.seq)
    .map((attempt) => ({ attempt, no: numbers[attempt.foundAs ?? attempt.intent.batch] }));
}

async function standingInStore(ledger: RealmLedger, { attempt, no }: Placed): Promise<Standing | 'archived'> {
  const { redis } = ledger.scripts;
  const { intent } = attempt;
  if (no === undefined) return (await isParked(ledger, attempt)) ? 'known' : 'forgotten';
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
  return (await isParked(ledger, attempt)) ? 'known' : 'forgotten';
}

/** An archive that is not here tells nothing, and neither does its batch. */
async function standingInArchive(ledger: RealmLedger, no: string, attempt: FoundAttempt): Promise<Standing> {
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
function standingBy(record: OrderRecord, { intent, result }: FoundAttempt): Standing | undefined {
  const code = result === null ? null : decodeRecord(result.record).code;
  const answered = isAnswer(result);
  if (record.nonce === intent.nonce) {
    if (record.code === 's') return 'unsettled';
    // Its session was given up while it was sending, and the answer came after all.
    const givenUp = (record.code === 'u' || record.code === 'D') && answered;
    return givenUp || (code === 'P' && record.code !== 'P') ? 'unsettled' : 'known';
  }
  if (record.paidBy !== null) {
    if (record.paidBy === nonceMark(intent.nonce)) return 'known';
  } else {
    // At the very moment of this attempt, and without a nonce: paid as 0.2.0 wrote it, or written by 0.1.0.
    const sameMoment = record.nonce === null && record.sentAt === intent.firstSentAt;
    if (sameMoment && (record.code === 'P' || code !== 'P')) return 'known';
  }
  // A definite no adds nothing to what the ledger has come to since.
  if (answered && code !== 'P' && record.attempts >= intent.attempts) return 'known';
  return undefined;
}

/** Beside a payment it is a second one, which the history of an attempt that was given up does not tell. */
function standingBeside({ result }: FoundAttempt): Standing {
  return isPaid(result) ? 'unsettled' : 'known';
}

function isNoted(history: readonly string[], { nonce }: Intent): boolean {
  return history.some((detail) => detail.includes(`"attempt":"${nonce}"`));
}

/** Whether the batch names the attempt as a possible second payment already; see saySecond in roll-forward.lua. */
function isSaid(second: string, { intent: { index, nonce }, result }: FoundAttempt): boolean {
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
async function doubtAll(context: Merging, no: string, intent: Intent): Promise<number> {
  const { scripts, keyPrefix } = context.ledger;
  const { orders } = await giveUpBatch(context, no, { session: '', message: MISFIT, at: Date.now() });
  const key = batchKeys(keyPrefix, no).attempts(intent.index);
  await scripts.ask('note attempt', (redis) => redis.sadd(key, intent.nonce));
  return orders;
}

const MISFIT =
  'a journal knows payments of this batch from when its file had other rows; which of them were sent is not known';
const INCOMPLETE =
  'the store had forgotten this batch, and a person has accepted that not all that was sent of it is known';

export async function mergeTidings(context: Merging, tidings: readonly Tidings[]): Promise<Merged> {
  const second: OrderId[] = [];
  let [moved, unknown, parked] = [0, 0, 0];
  for (const { attempt, no } of tidings) {
    const { intent } = attempt;
    const answer = no === undefined ? 'gone' : await rollForward(context, no, attempt);
    if (answer === 'misfit' && no !== undefined) unknown += await doubtAll(context, no, intent);
    else if (answer === 'gone') {
      await park(context.ledger, attempt);
      parked += 1;
    } else if (answer === 'second') second.push(orderId(intent.batch, intent.index));
    else if (answer !== 'ahead') {
      moved += 1;
      if (answer === 'u' || answer === 'D') unknown += 1;
    }
  }
  return { moved, unknown, parked, second };
}

/** A batch that was imported again after the store forgot it: what its orders met before is put back first. */
export async function mergeParked(context: Merging): Promise<number> {
  let moved = 0;
  // Another store that takes its place meanwhile has forgotten what is put back here.
  const store = storeSeen(await readFence(context.ledger));
  for (const { batch, attempts, kept, incomplete } of await parkedAttempts(context.ledger, true)) {
    const placed = await placesOf(context.ledger, attempts);
    if (placed.some(({ no }) => no === undefined)) continue;
    const merged = await mergeTidings(
      context,
      placed.map((one) => ({ ...one, standing: 'forgotten' })),
    );
    if (merged.parked > 0) continue;
    moved += merged.moved;
    for (const no of incomplete ? new Set(placed.map((one) => one.no ?? '')) : [])
      await giveUpBatch(context, no, { session: '', message: INCOMPLETE, at: Date.now() });
    await forgetParked(context.ledger, { batch, kept }, store);
  }
  return moved;
}

async function foundByFormerId(
  ledger: RealmLedger,
  attempts: readonly JournaledAttempt[],
  numbers: Readonly<Record<string, string>>,
): Promise<readonly FoundAttempt[]> {
  if (attempts.every(({ intent }) => numbers[intent.batch] !== undefined)) return attempts;
  const formers = await askRealm(ledger, 'list batches', (redis, T) => redis.hgetall(`${T}:former`));
  const ids = new Map(Object.entries(numbers).map(([id, no]) => [no, batchId(id)]));
  return attempts.map((attempt): FoundAttempt => {
    const { intent, result } = attempt;
    const foundAs = numbers[intent.batch] === undefined ? ids.get(formers[intent.batch] ?? '') : undefined;
    if (foundAs === undefined) return attempt;
    const definite = result === null ? null : { ...result, record: result.record.replace(/^u/, 'D') };
    return { ...attempt, result: definite, foundAs };
  });
}
