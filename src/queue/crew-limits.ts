import type { RealmProfile } from '../core/profile.js';

/** How long a crew waits for what, and how much it takes on at once. */

export type CrewLimits = {
  /** How long BullMQ believes in a delivery without a sign of life. Nothing safe rests on it. */
  readonly lockMs: number;
  /** Work waiting, none taken, for so long: the process ends. */
  readonly stalledMs: number;
  /** How long other processes may take to merge their journals before the batches are shown as halted. */
  readonly mergePatienceMs: number;
};

export const CREW_LIMITS: CrewLimits = { lockMs: 30_000, stalledMs: 60_000, mergePatienceMs: 15_000 };

type Size = { readonly profile: RealmProfile; readonly concurrency: number };

/** About a minute's worth at the pace, at least twice the concurrency, and never more than Redis likes. */
export function windowJobs({ profile, concurrency }: Size): number {
  const perMinute =
    profile.rate === null ? WINDOW_MAX : (profile.rate.requests / profile.rate.windowMs) * 60_000;
  return Math.max(2 * concurrency, Math.min(WINDOW_MAX, Math.ceil(perMinute)));
}

const WINDOW_MAX = 2_000;

/** More deliveries under way than the pace can use would only wait for slots, and waste them on a pause. */
export function usefulConcurrency({ profile, concurrency }: Size): number {
  if (profile.rate === null) return concurrency;
  const perSecond = (profile.rate.requests / profile.rate.windowMs) * 1000;
  return Math.max(1, Math.min(concurrency, 2 + Math.ceil(perSecond * LATENCY_ALLOWED_S)));
}

const LATENCY_ALLOWED_S = 2;
