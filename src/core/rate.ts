import type { Rate } from './profile.js';

/**
 * The one spelling of a pace: `24/min`, `10/s`, `500/h`, `60/6s`, or `none`. A bare `m` is refused: half of
 * its readers take it for minutes and the other half for milliseconds.
 */

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 };
const RATE = /^([0-9]{1,7})\s*\/\s*([0-9]{1,8})?\s*(ms|s|min|h)$/;

export const RATE_REQUESTS_MAX = 1_000_000;
export const RATE_WINDOW_MS_MAX = 24 * 3_600_000;
export const RATE_EXPECTED = 'a rate such as 24/min, 10/s, 500/h, 60/6s, or none';

export type ParsedRate = { readonly rate: Rate | null } | { readonly fault: string };

export function parseRate(text: string): ParsedRate {
  const trimmed = text.trim();
  if (trimmed === 'none') return { rate: null };
  const match = RATE.exec(trimmed);
  const unitMs = UNIT_MS[match?.[3] ?? ''];
  if (match === null || unitMs === undefined) return { fault: `expected ${RATE_EXPECTED}` };
  const requests = Number(match[1]);
  const windowMs = Number(match[2] ?? 1) * unitMs;
  if (requests < 1 || requests > RATE_REQUESTS_MAX)
    return { fault: `expected 1 to ${RATE_REQUESTS_MAX} requests in a rate; write none for no limit` };
  if (windowMs < 1 || windowMs > RATE_WINDOW_MS_MAX)
    return { fault: 'expected a rate with a window of 1ms to 24h' };
  return { rate: { requests, windowMs } };
}

/** Reads back as the same rate; whole units are printed without their count. */
export function formatRate(rate: Rate | null): string {
  if (rate === null) return 'none';
  for (const unit of ['h', 'min', 's', 'ms']) {
    const count = rate.windowMs / (UNIT_MS[unit] ?? 1);
    if (Number.isInteger(count)) return `${rate.requests}/${count === 1 ? '' : count}${unit}`;
  }
  return `${rate.requests}/${rate.windowMs}ms`;
}
