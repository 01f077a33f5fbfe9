import type { Standstill, WaitingWhy } from './may-send.js';
import type { Sign } from './presence.js';
import type { Certainty } from './profile.js';
import type { BatchState } from './states.js';

/** How a batch and its realm stand at one moment: all that is needed to say which orders wait, and for what. */
export type OpenState = 'planned' | 'sending' | 'unknown' | 'doubt';

/** Orders of one state. `indexes` null: all of that state that stand under no other cause. */
export type Group = {
  readonly state: OpenState;
  readonly orders: number;
  readonly tokens: bigint;
  readonly indexes: readonly number[] | null;
};

export type RealmStanding = {
  readonly name: string;
  /** The store's time. */
  readonly nowMs: number;
  readonly signs: readonly Sign[];
  /** When the last worker left in order; 0: never. */
  readonly leftMs: number;
  /** When the realm was halted or disarmed, where it is. */
  readonly haltedMs: number | null;
  /** Since when first sends wait for a person after a rollback, where they do. */
  readonly waitsForPersonMs: number | null;
  /** The store was restarted, and the journals are being merged. */
  readonly recovering: boolean;
  readonly breaker: { readonly sinceMs: number; readonly haltsAtMs: number | null } | null;
  /** The realm asked to wait (Retry-After). */
  readonly hold: { readonly sinceMs: number; readonly untilMs: number } | null;
  /** The quiet hours of its profile that last, as it is spelt by its wall. */
  readonly quiet: { readonly untilMs: number; readonly words: string } | null;
};

/** Orders that one session is sending. */
export type SendingGroup = Group & {
  readonly session: string;
  readonly sinceMs: number;
  /** For longer than its time-outs. `error`: why the store refuses their results, where the session has noted it. */
  readonly stuck?: { readonly error: string | null };
};

export type BatchStanding = {
  readonly batch: string;
  /** What keeps it as a whole from being sent, and the first of that in words, where it has any. */
  readonly whyNot: readonly Standstill[];
  readonly reason: { readonly message: string; readonly next: string } | null;
  /** The session whose run it is; empty for a batch of the workers. */
  readonly owner: string;
  readonly certainty: Certainty;
  readonly inOrder: boolean;
  /** When it was made, begun or given to the workers, and paused or halted last; 0: never. */
  readonly createdMs: number;
  readonly startedMs: number;
  readonly stoodMs: number;
  readonly start: { readonly at: number; readonly zone: string } | null;
  readonly planned: Group;
  readonly unknown: Group & { readonly sinceMs: number; readonly untilMs: number | null };
  readonly doubt: Group & { readonly sinceMs: number };
  readonly sending: readonly SendingGroup[];
  /** Planned orders that wait for their next attempt. */
  readonly retry: Group & { readonly sinceMs: number; readonly untilMs: number };
  /** Planned orders that wait for members which an order that stands still holds. */
  readonly held: Group & {
    readonly holder: string;
    readonly sinceMs: number;
    readonly untilMs: number | null;
  };
};

export type Waiting = {
  readonly why: WaitingWhy;
  readonly message: string;
  readonly orders: number;
  /** Digits: the sum of exactly these orders. */
  readonly tokens: string;
  readonly since: string;
  /** When it ends or is looked at again by itself; null where nobody can know. */
  readonly until: string | null;
  /** The command that ends it; null where nothing needs to be done. */
  readonly next: string | null;
  /** The sending process they are in the hands of, where that is the cause. */
  readonly session: string | null;
};

/** Sending processes that are silent, frozen or dead with orders in their hands: a person should look. */
export function lostSessions(waiting: readonly Waiting[]): string[] {
  return [...new Set(waiting.flatMap(({ session }) => session ?? []))];
}

/**
 * Seconds to the end: what moves at its pace, and not before the last of what waits. Null where that depends
 * on a person, or on something whose end nobody knows.
 */
export function etaSeconds(facts: {
  readonly state: BatchState;
  /** Planned, sending and unknown orders. */
  readonly open: number;
  readonly perSecond: number | null;
  readonly waiting: readonly Waiting[];
  readonly nowMs: number;
}): number | null {
  const { open, nowMs } = facts;
  if (open === 0) return 0;
  if (facts.state !== 'running') return null;
  const waiting = facts.waiting.filter(({ why }) => why !== 'doubt');
  // An open breaker's time is when it gives up, not when the realm is back.
  if (waiting.some(({ why, until }) => until === null || why === 'breaker')) return null;
  const secondsTo = (some: readonly Waiting[]) =>
    Math.max(0, ...some.map(({ until }) => (Date.parse(until ?? '') - nowMs) / 1000));
  const asleep = waiting.filter(({ why }) => why !== 'hold' && why !== 'quiet' && why !== 'in-order');
  const paced = open - asleep.reduce((sum, { orders }) => sum + orders, 0);
  if (paced <= 0) return Math.ceil(secondsTo(waiting));
  if (facts.perSecond === null || facts.perSecond <= 0) return null;
  const begin = secondsTo(waiting.filter((one) => !asleep.includes(one)));
  return Math.ceil(Math.max(secondsTo(waiting), begin + paced / facts.perSecond));
}
