import { z } from 'zod';
import { orderId } from '../core/ids.js';
import { membersOf } from '../core/order.js';
import type { Certainty } from '../core/profile.js';
import type { Books } from './books.js';
import { texts } from './caller.js';
import { encodeDetail } from './detail.js';
import type { JournaledAttempt } from './journal-reader.js';
import { BLOCK_ORDERS, batchKeys } from './keys.js';
import { forgetParked, park, parkedAttempts } from './parked.js';
import type { PlanReader } from './plan-store.js';
import { decodeRecord, isStateCode, type StateCode, toBase36 } from './record.js';
import { contentDigest, referenceKey } from './reference.js';
import { utcDay } from './sending.js';

/**
 * Merging journals into the ledger: RESULT rolls an order forward, INTENT without RESULT makes it unknown
 * (a doubt under `manual`), and an attempt that is still under way in a living process is put back to
 * sending. Most attempts are known to the ledger already; they are sorted out by reading, not by scripts.
 */
export type Merged = {
  /** Orders that the ledger had forgotten something of. */
  readonly moved: number;
  /** Of those: nobody can say whether they were applied. */
  readonly unknown: readonly { readonly no: string; readonly index: number; readonly code: StateCode }[];
  /** Attempts of batches that this ledger does not have. */
  readonly parked: number;
  /** Attempts that the ledger had counted before their intent was written, and knew nothing of: it forgot them. */
  readonly forgotten: number;
};

export type MergeContext = {
  readonly books: Books;
  readonly plans: PlanReader;
  readonly certainty: Certainty;
  /** Nonces of attempts that a living process is sending right now. */
  readonly underWay: ReadonlySet<string>;
};

const AT_ONCE = 200;

export async function mergeAttempts(
  context: MergeContext,
  attempts: readonly JournaledAttempt[],
): Promise<Merged> {
  const { books } = context;
  const { redis } = books.caller;
  const numbers = await books.caller.patiently('list batches', () => redis.hgetall(`${books.realm}:batches`));
  // In the order in which the ledger saw them: what released a member comes before what held it next.
  const inOrder = [...attempts].sort((a, b) => a.intent.seq - b.intent.seq);
  const unknown: { no: string; index: number; code: StateCode }[] = [];
  let [moved, parked, forgotten] = [0, 0, 0];
  for (let first = 0; first < inOrder.length; first += AT_ONCE) {
    const chunk = inOrder.slice(first, first + AT_ONCE);
    const records = await readRecords(books, chunk, numbers);
    for (const [i, attempt] of chunk.entries()) {
      const no = numbers[attempt.intent.batch];
      if (no !== undefined && isKnown(records[i] ?? null, attempt)) continue;
      const answer = no === undefined ? 'gone' : await rollForward(context, no, attempt);
      if (answer === 'gone') {
        await park(books, attempt);
        parked += 1;
      } else if (answer !== 'ahead') {
        moved += 1;
        if (decodeRecord(records[i] ?? null).attempts < attempt.intent.attempts) forgotten += 1;
        if (attempt.result === null && no !== undefined)
          unknown.push({ no, index: attempt.intent.index, code: answer });
      }
    }
  }
  return { moved, unknown, parked, forgotten };
}

/** A batch that was imported again after the store forgot it: what its orders met before is put back first. */
export async function mergeParked(context: MergeContext): Promise<number> {
  let moved = 0;
  for (const { batch, attempts } of await parkedAttempts(context.books)) {
    const merged = await mergeAttempts(context, attempts);
    if (merged.parked > 0) continue;
    moved += merged.moved;
    await forgetParked(context.books, batch);
  }
  return moved;
}

async function readRecords(
  books: Books,
  chunk: readonly JournaledAttempt[],
  numbers: Readonly<Record<string, string>>,
): Promise<(string | null)[]> {
  const { redis } = books.caller;
  return books.caller.patiently('read orders', () =>
    Promise.all(
      chunk.map(({ intent }) => {
        const no = numbers[intent.batch];
        if (no === undefined) return null;
        const block = Math.floor((intent.index - 1) / BLOCK_ORDERS);
        return redis.hget(batchKeys(books.realm, no).records(block), String(intent.index));
      }),
    ),
  );
}

/** The ledger has this attempt, and not merely as being sent. The script asks again; this only saves calls. */
function isKnown(text: string | null, { intent, result }: JournaledAttempt): boolean {
  const { code, attempts } = decodeRecord(text);
  if (code === 'P') return true;
  if (result !== null && decodeRecord(result.record).code === 'P') return false;
  return code === 's' ? attempts > intent.attempts : attempts >= intent.attempts;
}

/** One attempt, whatever the ledger knows of it. */
export async function rollForward(
  context: MergeContext,
  no: string,
  attempt: JournaledAttempt,
): Promise<'gone' | 'ahead' | StateCode> {
  const { books, certainty } = context;
  const { intent, result } = attempt;
  // By name: a reader may still remember what another batch had under this number in another past.
  const row = await context.plans.rowOf(no, intent.index, intent.batch);
  if (row === undefined || row.order === null) return 'gone';
  const key = row.reference === null ? null : referenceKey(row.reference);
  const { undoes } = row;
  const [answer = '', code = ''] = texts(
    await books.caller.script('roll-forward', books.realm, [
      no,
      intent.batch,
      intent.index,
      intent.nonce,
      intent.attempts,
      intent.tokens,
      recordOf(context, attempt),
      result?.dueInMs ?? 0,
      utcDay(intent.firstSentAt),
      result?.detail ?? (context.underWay.has(intent.nonce) ? '' : orphanedDetail(attempt)),
      JSON.stringify({
        ref: key === null ? null : [key.shard, key.field.toString('hex'), contentDigest(row.order)],
        undoes: undoes === null ? null : [undoes.shard, undoes.fieldHex, undoes.no, undoes.index],
        members: certainty === 'readback' ? membersOf(row.order) : [],
        requests: result?.requests ?? 1,
        retries: intent.attempts > 1 ? 1 : 0,
        limited: result?.limited === true ? 1 : 0,
      }),
    ]),
  );
  switch (z.enum(['ok', 'ahead', 'gone']).parse(answer)) {
    case 'ok':
      return isStateCode(code) ? code : 'u';
    case 'ahead':
      return 'ahead';
    case 'gone':
      return 'gone';
  }
}

function recordOf(
  { certainty, underWay }: MergeContext,
  { session, intent, result }: JournaledAttempt,
): string {
  if (result !== null) return result.record;
  const { keyNumber, attempts, tries, nonce } = intent;
  const sent = toBase36(intent.firstSentAt);
  const counts = `${keyNumber}|${attempts}|${tries}`;
  if (underWay.has(nonce)) return `s|${counts}|${session}|${nonce}|${sent}|${intent.resend ? 'u' : ''}||`;
  return `${certainty === 'manual' ? 'D' : 'u'}|${counts}|||${sent}|||`;
}

function orphanedDetail({ session, intent }: JournaledAttempt): string {
  return encodeDetail(
    {
      event: 'orphaned',
      at: Date.now(),
      key: `${orderId(intent.batch, intent.index)}.${intent.keyNumber}`,
      session,
      code: 'ALM_SEND_OWNER_DIED',
      message: 'the journal says that it was about to be sent, and not what became of it',
    },
    intent.nonce,
  );
}
