import { counted } from '../../core/counted.js';
import { AlmonerError } from '../../core/errors/error.js';
import { orderId } from '../../core/ids.js';
import type { Highest } from '../journal/folder.js';
import { batchKeys } from '../keys.js';
import { giveUpBatch } from '../moves/give-up.js';
import { noteChange } from '../moves/note-change.js';
import { acceptLost, type LostOrder } from '../moves/orphan.js';
import type { MergeContext } from '../moves/replay.js';
import { writeAudit } from '../moves/retry.js';
import type { PlannedOrder, PlanRow } from '../plan-block.js';
import { batchesIn } from '../read/batch-lists.js';
import { readFence, storeSeen } from '../read/fence.js';
import { askRealm, type BatchRef, batchFacts, type RealmLedger, storeNowMs } from '../realm-ledger.js';
import { acceptDamaged, acceptRemoved } from './fence.js';
import { listFolders, retireFolders, unseenFolders } from './folders.js';
import { forgetSession } from './session.js';
import { sendingOf } from './under-way.js';

/**
 * What only a person may decide: a session will never merge its journal. From then on it begins nothing more.
 *
 *   exactly   the store has forgotten nothing since the session joined it: what it was sending, and nothing else,
 *             becomes unknown, and is resolved by its batch's certainty
 *   widely    the store was restarted or rolled back since: each order of the realm that is planned, waiting, being sent,
 *             unknown or a dead letter that may be retried becomes a doubt. Less would be a guess: the store may have
 *             forgotten that the session sent any of them, also one that another session is sending now
 */
export type Loss = { readonly exact: boolean; readonly orders: number; readonly tokens: bigint };

type By = { readonly who: string; readonly at: number };

/** The name under which journals that were removed, and are missed after all, are given up. */
export const REMOVED = 'removed';
/** The name under which data folders are given up that do not come back. */
const FOLDERS = 'folders';

/** What giving it up would do. Changes nothing. */
export async function lossOf(context: MergeContext, session: string): Promise<Loss> {
  const { ledger, plans } = context;
  const { run, armed, era } = await readFence(ledger);
  const joined = await askRealm(ledger, 'read session', (redis, T) => redis.hget(`${T}:joined`, session));
  const exact = session !== REMOVED && armed && run !== 'unproven' && joined === `${run} ${era}`;
  let [orders, tokens] = [0, 0n];
  if (exact)
    for (const { ref, index } of await sendingOf(ledger, new Set([session]))) {
      orders += 1;
      tokens += BigInt((await plans.row(ref.no, index)).order?.tokens ?? 0);
    }
  else return wideLoss(ledger);
  return { exact, orders, tokens };
}

async function wideLoss(ledger: RealmLedger): Promise<Loss> {
  let [orders, tokens] = [0, 0n];
  for (const { counters } of await uncertain(ledger))
    for (const code of NOT_FINAL) {
      orders += Number(counters[`c:${code}`] ?? 0);
      tokens += BigInt(counters[`t:${code}`] ?? 0);
    }
  return { exact: false, orders, tokens };
}

const NO_LOSS: Loss = { exact: true, orders: 0, tokens: 0n };

/** What not waiting for data folders any more would do. Changes nothing. */
export async function lossOfRetiring({ ledger }: MergeContext): Promise<Loss> {
  const { armed, untouched } = await readFence(ledger);
  return armed || untouched ? NO_LOSS : wideLoss(ledger);
}

/**
 * A person says that data folders which were not heard of since then do not come back, or that nothing in them is missed.
 * While the ledger is closed the store may have forgotten what they sent, and what is not settled becomes a doubt. Null where
 * there is none.
 */
export async function retireUnseen(
  context: MergeContext,
  beforeMs: number,
  by: By,
): Promise<(Loss & { readonly folders: number }) | null> {
  const { ledger } = context;
  const fence = await readFence(ledger);
  const store = storeSeen(fence);
  const unseen = await unseenFolders(ledger, beforeMs);
  if (unseen.length === 0) return null;
  // An open ledger knows what the folder knew when it was last looked at, and the folder was not used since.
  const loss = fence.armed || fence.untouched ? NO_LOSS : await acceptWidely(context, FOLDERS, by);
  const retired = await retireFolders(ledger, unseen, store);
  if (retired === null) throw storeChanged();
  return retired.length === 0 ? null : { ...loss, folders: retired.length };
}

function storeChanged(): AlmonerError {
  return new AlmonerError(
    'ALM_LEDGER_SESSION',
    'The store was restarted or restored while this was going on, and may have forgotten it. Nothing was sent.',
    { next: 'Run the same command again.' },
  );
}

/** Answers what it did: the orders that are unknown or in doubt by it. */
export async function acceptMissing(
  context: MergeContext,
  session: string,
  by: By,
  /** What was removed of the journals that lie here. */
  removed: Highest = {},
): Promise<Loss> {
  const { ledger } = context;
  const store = storeSeen(await readFence(ledger));
  const exactly = session === REMOVED ? null : await acceptExactly(context, session, by);
  const loss = exactly ?? (await acceptWidely(context, session, by));
  const noted =
    session === REMOVED ? acceptRemoved(ledger, removed, store) : forgetSession(ledger, session, store);
  if (!(await noted)) throw storeChanged();
  return loss;
}

/** Whether the ledger waits for a folder because lines of this session's journal cannot be read. */
export async function isDamaged(ledger: RealmLedger, session: string): Promise<boolean> {
  return (await listFolders(ledger)).some(
    ({ fault }) => fault?.what === 'damaged' && fault.session === session,
  );
}

/** Null where the ledger is open, or is closed because a person has to decide something else first. */
export async function acceptJournal(context: MergeContext, session: string, by: By): Promise<Loss | null> {
  const { ledger } = context;
  const fence = await readFence(ledger);
  if (fence.armed || Object.keys(fence.missed).length > 0) return null;
  const loss = await acceptWidely(context, session, by);
  if (!(await acceptDamaged(ledger, session, storeSeen(fence)))) throw storeChanged();
  return loss;
}

const NOT_FINAL = ['p', 'u', 's', 'R', 'X'] as const;

/** Batches with orders that a store which forgot something may be wrong about. */
async function uncertain(ledger: RealmLedger) {
  const { scripts, keyPrefix } = ledger;
  const listed = [...(await batchesIn(ledger, 'open')), ...(await batchesIn(ledger, 'dead'))];
  const refs = [...new Map(listed.map((ref) => [ref.no, ref])).values()];
  const found = await Promise.all(
    refs.map(async (ref) => {
      const [state = null] = await batchFacts(ref, 'state');
      const { counters } = batchKeys(keyPrefix, ref.no);
      return { ref, state, counters: await scripts.ask('read batch', (redis) => redis.hgetall(counters)) };
    }),
  );
  return found.filter(
    ({ state, counters }) =>
      state !== null &&
      !['importing', 'archived'].includes(state) &&
      NOT_FINAL.some((code) => Number(counters[`c:${code}`] ?? 0) > 0),
  );
}

/** Null where the store may have forgotten what the session did. */
async function acceptExactly(context: MergeContext, session: string, by: By): Promise<Loss | null> {
  const { ledger, plans, termsOf } = context;
  const counted = new Map<string, { ref: BatchRef; orders: number }>();
  let [orders, tokens] = [0, 0n];
  // What it began between being listed and being given up is found by the next look; after that it begins nothing.
  for (let looks = 0; ; looks++) {
    const found = await sendingOf(ledger, new Set([session]));
    if (looks > 0 && found.length === 0) break;
    const lost = await Promise.all(
      found.map(async ({ ref, index, record }): Promise<LostOrder & { ref: BatchRef }> => {
        const row = orderAt(await plans.row(ref.no, index));
        const attempt = record.nonce ?? '';
        const detail = {
          event: 'orphaned',
          at: by.at,
          sentAt: record.sentAt,
          key: `${orderId(ref.id, index)}.${record.keyNumber}`,
          attempt,
          session,
          code: 'ALM_SEND_OWNER_DIED',
          message: `session ${session} was given up as lost by ${by.who} while it was sending it; whether the request arrived is not known`,
        } as const;
        const to = (await termsOf(ref.no)).certainty === 'manual' ? 'D' : 'u';
        return { ref, no: ref.no, index, row, attempt, detail, to };
      }),
    );
    const answer = await acceptLost(ledger, session, by, lost);
    if (answer === 'wide') return null;
    if (answer === 'gone') break;
    orders += answer.moved.length;
    for (const { ref, row } of answer.moved) {
      tokens += BigInt(row.order.tokens);
      counted.set(ref.no, { ref, orders: (counted.get(ref.no)?.orders ?? 0) + 1 });
    }
  }
  for (const one of counted.values())
    await audit(one.ref, session, { orders: one.orders, now: 'unknown' }, by);
  return { exact: true, orders, tokens };
}

/** What was sent was an order. */
function orderAt(row: PlanRow): PlannedOrder {
  if (row.order === null) throw new TypeError('a row that is no order is being sent');
  return { ...row, order: row.order };
}

async function acceptWidely(context: MergeContext, session: string, by: By): Promise<Loss> {
  const { ledger } = context;
  let [orders, tokens] = [0, 0n];
  // Nobody knows either which orders were sent of batches that the store has forgotten. First, because a journal may bring
  // one back while the others are gone through.
  await acceptLoss(ledger);
  for (const { ref } of await uncertain(ledger)) {
    const here = await giveUpBatch(context, ref.no, { message: lostMessage(session), at: by.at });
    if (here.orders > 0) await audit(ref, session, { orders: here.orders, now: 'in doubt' }, by);
    orders += here.orders;
    tokens += here.tokens;
  }
  return { exact: false, orders, tokens };
}

function lostMessage(session: string): string {
  if (session === FOLDERS)
    return 'a data folder that does not come back may have sent this order, and the store may have forgotten it';
  return session === REMOVED
    ? 'the store has forgotten more than the journals still know, and it may have been sent in between'
    : `the journal of session ${session} is lost, and it may have sent this order`;
}

async function audit(
  ref: BatchRef,
  session: string,
  { orders, now }: { readonly orders: number; readonly now: string },
  by: By,
): Promise<void> {
  const what =
    session === FOLDERS
      ? `accepted that data folders do not come back: ${counted(orders, 'order is', 'orders are')} ${now}`
      : session === REMOVED
        ? `accepted that journals which were removed are missed: ${counted(orders, 'order is', 'orders are')} ${now}`
        : `accepted session ${session} as lost: ${counted(orders, 'order is', 'orders are')} ${now}`;
  await writeAudit(ref, { ...by, what, why: null });
}

/**
 * Of all batches that are recovered, now or later: more may have been sent of them than any journal knows. Plans that
 * were judged before are judged again at their seal.
 */
async function acceptLoss(ledger: RealmLedger): Promise<void> {
  const at = await storeNowMs(ledger);
  await askRealm(ledger, 'accept loss', (redis, T) =>
    redis.multi().hset(T, 'gap', at).hincrby(T, 'seals', 1).exec(),
  );
  for (const { no } of await batchesIn(ledger, 'recovered')) {
    await askRealm(ledger, 'accept loss', (redis, T) => redis.hset(batchKeys(T, no).meta, 'incomplete', '1'));
    await noteChange(ledger, no);
  }
}
