import type { IncomingHttpHeaders } from 'node:http';
import type { RateHeaders } from '../../core/classify.js';
import { oneLine } from '../../core/one-line.js';

/** The facts that an answer's headers carry: request id, Retry-After and rate limits. */
export type HeaderFacts = {
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  readonly rate: RateHeaders | null;
};

const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'x-correlation-id', 'x-trace-id', 'cf-ray'];
const REQUEST_ID_MAX = 200;

/** Reads the facts from the headers. `nowMs` is the local wall-clock time, used when the server sends no Date. */
export function headerFacts(headers: IncomingHttpHeaders, nowMs: number): HeaderFacts {
  // Compare times with the server's own clock if it sends a Date, so that a wrong local clock does no harm. Parse it
  // only when needed, because few answers carry times.
  const serverNowMs = () => {
    const dated = Date.parse(headers.date ?? '');
    return Number.isNaN(dated) ? nowMs : dated;
  };
  return {
    requestId: oneLine(firstOf(headers, REQUEST_ID_HEADERS) ?? '').slice(0, REQUEST_ID_MAX) || null,
    retryAfterMs: retryAfterMs(headers['retry-after'], serverNowMs),
    rate: rateHeaders(headers, serverNowMs),
  };
}

/** Reads Retry-After: seconds, or an HTTP date. */
export function retryAfterMs(value: string | undefined, nowMs: () => number): number | null {
  if (value === undefined) return null;
  const text = value.trim();
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs());
}

const RATE_HEADERS = {
  limit: ['x-ratelimit-limit', 'ratelimit-limit'],
  remaining: ['x-ratelimit-remaining', 'ratelimit-remaining'],
  reset: ['x-ratelimit-reset', 'ratelimit-reset'],
  window: ['x-ratelimit-window', 'ratelimit-window'],
};

/** Reads the rate headers in their usual spellings; null if there are none. */
function rateHeaders(headers: IncomingHttpHeaders, nowMs: () => number): RateHeaders | null {
  const rate: RateHeaders = {
    limit: count(firstOf(headers, RATE_HEADERS.limit)),
    remaining: count(firstOf(headers, RATE_HEADERS.remaining)),
    resetMs: resetMs(firstOf(headers, RATE_HEADERS.reset), nowMs),
    windowMs: durationMs(firstOf(headers, RATE_HEADERS.window)),
  };
  const empty =
    rate.limit === null && rate.remaining === null && rate.resetMs === null && rate.windowMs === null;
  return empty ? null : rate;
}

function count(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : null;
}

/**
 * Milliseconds until the limit resets. Servers send either the remaining seconds or a point in time, in seconds or
 * milliseconds.
 */
function resetMs(text: string | undefined, nowMs: () => number): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,14}(\.\d+)?$/.test(text)) {
    const date = Date.parse(text);
    return Number.isNaN(date) ? null : Math.max(0, date - nowMs());
  }
  const value = Number(text);
  if (value >= 1e11) return Math.max(0, value - nowMs());
  if (value >= 1e9) return Math.max(0, Math.ceil(value * 1000) - nowMs());
  return Math.ceil(value * 1000);
}

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** Reads `60`, `60s`, `1m` or `60000ms`; a bare number means seconds. */
function durationMs(text: string | undefined): number | null {
  const match = text && /^(\d{1,9})\s*(ms|s|m|h)?(?:in|inutes?|ec|econds?)?$/.exec(text);
  if (!match) return null;
  const unit = match[2];
  return Number(match[1]) * (unit === 'ms' || unit === 'm' || unit === 'h' ? UNIT_MS[unit] : UNIT_MS.s);
}

function firstOf(headers: IncomingHttpHeaders, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    const text = Array.isArray(value) ? value[0] : value;
    if (text !== undefined && text !== '') return text.trim();
  }
  return undefined;
}
