import type { IncomingHttpHeaders } from 'node:http';
import type { RateHeaders } from '../../core/classify.js';
import { oneLine } from '../../core/one-line.js';

/** What an answer says beside its body. `nowMs` is wall-clock time, for servers that send no Date. */
export type HeaderFacts = {
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  readonly rate: RateHeaders | null;
};

const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'x-correlation-id', 'x-trace-id', 'cf-ray'];
const REQUEST_ID_MAX = 200;

export function headerFacts(headers: IncomingHttpHeaders, nowMs: number): HeaderFacts {
  // Times are compared with the server's own clock where it shows it, so that a wrong clock here does no harm. Few
  // answers hold any.
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

/** Seconds, or an HTTP date. */
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

/** Milliseconds from now. Servers send seconds to go, or a point in time in seconds or milliseconds. */
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

/** `60`, `60s`, `1m`, `60000ms`; a bare number is seconds. */
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
