import { z } from 'zod';

/**
 * What an order met on its way, kept only for orders that met something other than "paid at the first
 * attempt". A list per order, newest last; it is what `dead show`, `doubt show` and the desk tell.
 */
const balances = z.object({ member: z.string().nullable(), recipient: z.string().nullable() });
export type Balances = z.infer<typeof balances>;

export const orderEvent = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('attempt'),
    at: z.number(),
    key: z.string(),
    /** The attempt's nonce; the scripts look for it. */
    attempt: z.string().optional(),
    kind: z.string(),
    code: z.string().nullable(),
    message: z.string(),
    status: z.number().nullable(),
    phase: z.string(),
    requestId: z.string().nullable(),
    latencyMs: z.number(),
    body: z.string(),
  }),
  /** The process that was sending it died; whether the request arrived is not known. */
  z.object({
    event: z.literal('orphaned'),
    /** When it was noted, which may be hours after the request. */
    at: z.number(),
    /** When the request was sent, as far as journal or record tell. */
    sentAt: z.number().nullable().optional(),
    key: z.string(),
    attempt: z.string().optional(),
    session: z.string(),
    code: z.string().nullable(),
    message: z.string(),
  }),
  /** Balances read: before sending (read-back), when the doubt arose, or while resolving. */
  z.object({
    event: z.literal('balances'),
    at: z.number(),
    when: z.enum(['before', 'doubt', 'check']),
    /** The attempt before which they were read; only `before` has it. */
    of: z.string().optional(),
    /** The number of the doubt for which they were read; only `doubt` has it. */
    doubt: z.string().optional(),
    balances,
  }),
  z.object({
    event: z.literal('concluded'),
    at: z.number(),
    state: z.string(),
    by: z.string(),
    code: z.string().nullable(),
    message: z.string(),
  }),
  z.object({ event: z.literal('retried'), at: z.number(), who: z.string(), why: z.string().nullable() }),
  z.object({ event: z.literal('discarded'), at: z.number(), who: z.string(), why: z.string() }),
]);
export type OrderEvent = z.infer<typeof orderEvent>;

/** With the nonce of the call that notes it, the scripts know a repeated call by its detail. */
export function encodeEvent(value: OrderEvent, nonce?: string): string {
  return JSON.stringify(nonce === undefined ? value : { ...value, nonce });
}

export function decodeEvent(json: string): OrderEvent {
  return orderEvent.parse(JSON.parse(json));
}

/** What an order's record names. What was seen of an earlier attempt or doubt does not speak of this one. */
export type Named = {
  /** The nonce of the last attempt; null where two attempts met. */
  readonly attempt: string | null;
  /** Null where the order is not in doubt. */
  readonly doubt: string | null;
};

/** The request that the record names; where it names none, the newest that the history tells of. */
export function lastSent(history: readonly OrderEvent[], { attempt }: Named) {
  const isSent = (one: OrderEvent) => one.event === 'attempt' || one.event === 'orphaned';
  return history.filter(isSent).findLast((one) => attempt === null || one.attempt === attempt) ?? null;
}

/** When that request was sent: what an operator looks for in the realm's own log. */
export function sentTime(sent: NonNullable<ReturnType<typeof lastSent>>): number | null {
  return sent.event === 'attempt' ? sent.at : (sent.sentAt ?? null);
}

export function balancesSeen(history: readonly OrderEvent[], when: 'before' | 'doubt', named: Named) {
  const seen = history.findLast((one) => {
    if (one.event !== 'balances' || one.when !== when) return false;
    const [of, wanted] = when === 'before' ? [one.of, named.attempt] : [one.doubt, named.doubt];
    return wanted !== null && of === wanted;
  });
  return seen?.event === 'balances' ? seen : null;
}

/** What a person compares with the realm's own log, of an order that nobody can prove paid or unpaid. */
export type Traces = {
  readonly sentAt: number | null;
  readonly key: string;
  readonly requestId: string | null;
  readonly before: Balances | null;
  readonly inDoubt: Balances | null;
};

export function tracesOf(history: readonly OrderEvent[], named: Named): Traces | null {
  const sent = lastSent(history, named);
  if (sent === null) return null;
  const { key } = sent;
  const requestId = sent.event === 'attempt' ? sent.requestId : null;
  const seen = (when: 'before' | 'doubt') => balancesSeen(history, when, named)?.balances ?? null;
  return { sentAt: sentTime(sent), key, requestId, before: seen('before'), inDoubt: seen('doubt') };
}
