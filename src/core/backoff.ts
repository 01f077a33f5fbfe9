/**
 * No order is put off for longer, by a realm that asks for it or by a setting. A time further away was noted
 * before a clock was stepped back, and whoever finds it goes on at once.
 */
export const LONGEST_PAUSE_MS = 30 * 60_000;

/** Exponential with full jitter: spreads retries over the whole interval instead of bunching them at its end. */
export function backoffMs(
  tries: number,
  settings: { readonly backoffMs: number; readonly backoffMaxMs: number },
  random: () => number,
): number {
  const ceiling = Math.min(
    LONGEST_PAUSE_MS,
    settings.backoffMaxMs,
    settings.backoffMs * 2 ** Math.min(tries, 30),
  );
  return Math.ceil(random() * ceiling);
}
