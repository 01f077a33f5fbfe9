import { batchKeys } from '../keys.js';
import { encodeEvent, type OrderEvent } from '../order-event.js';
import { SETTLE_MS } from '../read/earlier.js';
import type { OrderRef } from '../realm-ledger.js';
import { batchFacts, type RealmLedger } from '../realm-ledger.js';
import { noteChange } from './note-change.js';

/**
 * What read-back goes by: what each member should have, and when nothing read proves anything. That is so on a member
 * let go of in doubt, for the settle time, and in a batch, once it has ended.
 */

/** What each member should have of the currency; null where nothing is known. */
export async function expectedBalances(
  { scripts, keyPrefix }: RealmLedger,
  members: readonly string[],
  currency: string | null,
): Promise<(string | null)[]> {
  const marks = await scripts.ask('read balances', (redis) =>
    redis.hmget(`${keyPrefix}:expected`, ...members),
  );
  return marks.map((mark) => {
    const [balance = null, of = null] = mark?.split(' ') ?? [];
    return of === currency ? balance : null;
  });
}

/** Never over what another order has left since: this process may have been frozen, and its hold given up. */
export async function noteBalances(
  { scripts, keyPrefix }: RealmLedger,
  balances: readonly (readonly [member: string, balance: string])[],
  currency: string | null,
): Promise<void> {
  const of = currency === null ? '' : ` ${currency}`;
  await scripts.ask('note balances', (redis) =>
    Promise.all(
      balances.map(([member, balance]) => redis.hsetnx(`${keyPrefix}:expected`, member, `${balance}${of}`)),
    ),
  );
}

/**
 * Whether a request that nobody can speak for may have moved a member since `sentAt`: one whose order became a doubt,
 * or one that only a journal knew of. Such a mark stays while a hold does.
 */
export function isOvertaken(
  { scripts, keyPrefix }: RealmLedger,
  members: readonly string[],
  sentAt: number,
): Promise<boolean> {
  return scripts.ask('read void marks', async (redis) => {
    const [marks, [unheldAt, settleMs, stepped]] = await Promise.all([
      redis.hmget(`${keyPrefix}:void`, ...members),
      redis.hmget(keyPrefix, 'unheldAt', 'settleMs', 'steppedUntil'),
    ]);
    if (marks.some((mark) => mark !== null)) return true;
    // Orders of other certainties hold nothing, so that they may have moved any member meanwhile.
    if (unheldAt == null) return false;
    const waitMs = Number(settleMs ?? SETTLE_MS);
    const steppedMs = Number(stepped ?? 0);
    return Number(unheldAt) + waitMs >= sentAt || (steppedMs >= sentAt && steppedMs - waitMs <= sentAt);
  });
}

/** The store's clock went ahead: for the longest settle time nothing of before is over (see note-clock-step.lua). */
export async function noteClockStep(
  { scripts, keyPrefix }: RealmLedger,
  step: { readonly storeMs: number; readonly aheadMs: number; readonly settleMs: number },
): Promise<void> {
  const args = [step.storeMs, step.settleMs, step.aheadMs].map(Math.floor);
  await scripts.script('note-clock-step', keyPrefix, args);
}

/** The token of the order's hold, as the scripts compare it; null where the order holds no member. */
export async function readHold({ scripts, keyPrefix }: RealmLedger, ref: OrderRef): Promise<string | null> {
  const { holding } = batchKeys(keyPrefix, ref.no);
  const [held, era] = await scripts.ask('read the hold', (redis) =>
    Promise.all([redis.hget(holding, String(ref.index)), redis.hget(keyPrefix, 'era')]),
  );
  return held === null ? null : `${held.split(' ')[0]}@${era ?? ''}`;
}

/** What was seen is kept with the order. */
export async function noteEvent(ledger: RealmLedger, ref: OrderRef, event: OrderEvent): Promise<void> {
  const { scripts, keyPrefix } = ledger;
  const { details } = batchKeys(keyPrefix, ref.no);
  await scripts.ask('note evidence', (redis) => redis.rpush(details(ref.index), encodeEvent(event)));
  // Whoever shows the order, or archives it, reads it again.
  await noteChange(ledger, ref.no);
}

/** The notice is said once and kept with the batch and in its audit. */
export async function endReadback(
  ledger: RealmLedger,
  no: string,
  message: string,
  at: number,
): Promise<boolean> {
  const keys = batchKeys(ledger.keyPrefix, no);
  const isNew = await ledger.scripts.ask('end read-back', async (redis) => {
    if ((await redis.hsetnx(keys.meta, 'readbackEnded', message)) === 0) return false;
    await redis.rpush(
      keys.audit,
      JSON.stringify({ at, who: 'almoner', what: 'read-back ended', why: message }),
    );
    return true;
  });
  if (isNew) await noteChange(ledger, no);
  return isNew;
}

/** The reason it ended, or null while it is sound. */
export async function readbackEnded(ledger: RealmLedger, no: string): Promise<string | null> {
  const [message] = await batchFacts({ ledger, no }, 'readbackEnded');
  return message ?? null;
}
