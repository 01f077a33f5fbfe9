import type { Rate } from '../../core/profile.js';
import { type Answer, refuse } from './answer.js';
import type { Admission } from './books.js';

/** Headers of every answer under a limit. Times are whole seconds from now, rounded up, as Retry-After is. */
export function rateHeaders(rate: Rate, admission: Admission): Record<string, string> {
  return {
    'x-ratelimit-limit': String(rate.requests),
    'x-ratelimit-remaining': String(admission.remaining),
    'x-ratelimit-reset': String(secondsUp(admission.resetMs)),
    'x-ratelimit-window': String(secondsUp(rate.windowMs)),
  };
}

export function tooManyRequests(retryAfterMs: number): Answer {
  const seconds = secondsUp(retryAfterMs);
  return refuse(
    429,
    'rate_limited',
    `Too many requests for this realm. Nothing was changed; try again in ${seconds} s.`,
    { retryAfterSeconds: seconds },
    { 'retry-after': String(seconds) },
  );
}

function secondsUp(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
