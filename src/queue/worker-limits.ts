import type { RealmProfile } from '../core/profile.js';
import { FEED_MAX, type FeedWindow } from './feeder.js';

/** How long a crew waits for what, and how much it takes on at once. */

export type WorkerLimits = {
  /** How long BullMQ believes in a delivery without a sign of life. Nothing safe rests on it. */
  readonly lockMs: number;
  /** Work waiting, none taken, for so long: the process ends. */
  readonly stalledMs: number;
  /** How long other processes may take to merge their journals before the batches are shown as halted. */
  readonly mergePatienceMs: number;
  /** Open for so long, the breaker halts the realm. */
  readonly breakerHaltMs: number;
};

export const CREW_LIMITS: WorkerLimits = {
  lockMs: 30_000,
  stalledMs: 60_000,
  mergePatienceMs: 15_000,
  breakerHaltMs: 15 * 60_000,
};

type Size = { readonly profile: RealmProfile; readonly concurrency: number };

/** About a minute's worth at the pace, at least twice the concurrency, and never more than Redis likes. */
function windowOrders({ profile, concurrency }: Size): number {
  return Math.max(2 * concurrency, Math.min(WINDOW_MAX, Math.ceil(perSecond(profile) * 60)));
}

const WINDOW_MAX = 2_000;

/**
 * BullMQ's work for a job costs as much as the ledger's for an order, so where many leave in a second a job
 * carries several, worked one after the other, and the window is refilled by the hundreds. Few enough that
 * everybody has something to do: twenty orders are twenty jobs. Behind a slower pace, and where orders wait
 * for each other's members, each stays alone.
 */
export function feedWindow(size: Size): FeedWindow {
  const { profile, concurrency } = size;
  const orders = windowOrders(size);
  if (perSecond(profile) < FAST_PER_SECOND || profile.certainty === 'readback')
    return { orders, refillAt: 1, inAJob: () => 1 };
  return {
    orders,
    refillAt: Math.min(FEED_MAX, Math.ceil(orders / 4)),
    inAJob: (fed) => Math.max(1, Math.min(ORDERS_IN_A_JOB_MAX, Math.floor(fed / concurrency))),
  };
}

const ORDERS_IN_A_JOB_MAX = 8;
const FAST_PER_SECOND = 100;

function perSecond({ rate }: RealmProfile): number {
  return rate === null ? Number.POSITIVE_INFINITY : (rate.requests / rate.windowMs) * 1000;
}

/** More deliveries under way than the pace can use would only wait for slots, and waste them on a pause. */
export function usefulConcurrency({ profile, concurrency }: Size): number {
  return Math.max(1, Math.min(concurrency, 2 + Math.ceil(perSecond(profile) * LATENCY_ALLOWED_S)));
}

const LATENCY_ALLOWED_S = 2;
