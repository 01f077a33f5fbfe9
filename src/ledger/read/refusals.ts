import { z } from 'zod';
import { overdueAfterMs } from '../../core/overdue.js';
import type { SendingGroup } from '../../core/waiting.js';
import { batchKeys } from '../keys.js';
import type { OrderRef } from '../realm-ledger.js';
import { askRealm, type BatchRef, type RealmLedger, timeOn } from '../realm-ledger.js';
import type { OrderRecord } from '../record.js';

/**
 * Orders that are `sending` for too long although their session lives, and why.
 * Results that the store refuses, as the sessions that hold them have noted it: one small hash for each session, so that
 * it goes with the session. A note counts only while the order is still `sending` under the same nonce.
 */
const refusal = z.object({ nonce: z.string(), sinceMs: z.number(), error: z.string() });
type Refusal = z.infer<typeof refusal>;

/** A script's error may carry a page of context. */
const ERROR_CHARACTERS = 300;
/** The note is not worth waiting for: the next offer makes it again. */
const NOTE_PATIENCE_MS = 1_000;

type Attempted = { readonly ref: OrderRef; readonly nonce: string };

export async function noteRefusal(
  ledger: RealmLedger,
  session: string,
  { ref, nonce }: Attempted,
  error: string,
): Promise<void> {
  const hasty = { ...ledger, scripts: ledger.scripts.patient(NOTE_PATIENCE_MS) };
  await askRealm(hasty, 'note a refusal', async (redis, T) => {
    const note: Refusal = { nonce, sinceMs: await timeOn(redis), error: error.slice(0, ERROR_CHARACTERS) };
    await redis.hset(keyOf(T, session), fieldOf(ref), JSON.stringify(note));
  });
}

export async function forgetRefusal(ledger: RealmLedger, session: string, { ref }: Attempted): Promise<void> {
  await askRealm(ledger, 'forget a refusal', (redis, T) => redis.hdel(keyOf(T, session), fieldOf(ref)));
}

/** With the session its notes end. */
export async function forgetRefusals(ledger: RealmLedger, session: string): Promise<void> {
  await askRealm(ledger, 'forget refusals', (redis, T) => redis.unlink(keyOf(T, session)));
}

/** By `no:index`. */
async function readRefusals(ledger: RealmLedger, session: string): Promise<ReadonlyMap<string, Refusal>> {
  const notes = await askRealm(ledger, 'read refusals', (redis, T) => redis.hgetall(keyOf(T, session)));
  return new Map(Object.entries(notes).map(([field, json]) => [field, refusal.parse(JSON.parse(json))]));
}

const keyOf = (T: string, session: string) => `${T}:refused:${session}`;
const fieldOf = ({ no, index }: OrderRef) => `${no}:${index}`;

type Times = { readonly nowMs: number; readonly timeoutMs: number | null };

type SendingPart = {
  readonly own: Map<number, OrderRecord>;
  readonly stuck?: NonNullable<SendingGroup['stuck']>;
};

/** What a living session sends, apart from what it has had for too long and what the store refuses, by error. */
export async function sendingParts(
  ref: BatchRef,
  times: Times,
  session: string,
  own: ReadonlyMap<number, OrderRecord>,
): Promise<SendingPart[]> {
  const refusals = await readRefusals(ref.ledger, session);
  const since = await oldSince(ref, times, [...own]);
  const parts = new Map<string, SendingPart>();
  for (const [index, record] of own) {
    const refusal = refusals.get(fieldOf({ no: ref.no, index }));
    const error = refusal?.nonce === record.nonce ? refusal.error : null;
    const isStuck = error !== null || isOverdue(since.get(index), times);
    const key = `${isStuck} ${error}`;
    const part = parts.get(key) ?? {
      own: new Map<number, OrderRecord>(),
      ...(isStuck && { stuck: { error } }),
    };
    parts.set(key, part);
    part.own.set(index, record);
  }
  return [...parts.values()];
}

/** Since when the old ones are sent. A resend keeps the time of the first attempt; it began when it was due, or later. */
async function oldSince(
  { ledger, no }: BatchRef,
  times: Times,
  own: readonly (readonly [number, OrderRecord])[],
): Promise<Map<number, number>> {
  const old = own.filter(([, { sentAt }]) => isOverdue(sentAt ?? times.nowMs, times));
  if (old.length === 0) return new Map();
  const indexes = old.map(([index]) => String(index));
  const key = batchKeys(ledger.keyPrefix, no).due;
  const due = await ledger.scripts.ask('look at what is sent', (redis) => redis.zmscore(key, indexes));
  return new Map(
    old.map(([index, { sentAt }], i) => [index, Math.max(sentAt ?? times.nowMs, Number(due[i] ?? 0))]),
  );
}

export function isOverdue(sinceMs: number | undefined, { nowMs, timeoutMs }: Times): boolean {
  return sinceMs !== undefined && nowMs - sinceMs > overdueAfterMs(timeoutMs);
}
