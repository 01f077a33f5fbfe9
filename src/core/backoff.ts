/** Exponential with full jitter: spreads retries over the whole interval instead of bunching them at its end. */
export function backoffMs(
  tries: number,
  settings: { readonly backoffMs: number; readonly backoffMaxMs: number },
  random: () => number,
): number {
  const ceiling = Math.min(settings.backoffMaxMs, settings.backoffMs * 2 ** Math.min(tries, 30));
  return Math.ceil(random() * ceiling);
}
