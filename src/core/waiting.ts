import type { BatchState } from './states.js';

/** Why orders that are neither final nor moving stand still, as told everywhere: CLI, JSON, desk, metrics. */
export const WAITING_WHYS = [
  'no-worker',
  'paused',
  'halted',
  'disarmed',
  'parked',
  'breaker',
  'hold',
  'settle-time',
  'retry',
  'member-held',
  'in-order',
  'missing-session',
  'frozen-session',
  'dead-session',
  'doubt',
] as const;
export type WaitingWhy = (typeof WAITING_WHYS)[number];

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
  const asleep = waiting.filter(({ why }) => why !== 'hold' && why !== 'in-order');
  const paced = open - asleep.reduce((sum, { orders }) => sum + orders, 0);
  if (paced <= 0) return Math.ceil(secondsTo(waiting));
  if (facts.perSecond === null || facts.perSecond <= 0) return null;
  const begin = secondsTo(waiting.filter((one) => !asleep.includes(one)));
  return Math.ceil(Math.max(secondsTo(waiting), begin + paced / facts.perSecond));
}
