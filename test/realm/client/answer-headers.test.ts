import { describe, expect, it } from 'vitest';
import { headerFacts, retryAfterMs } from '../../../src/realm/client/answer-headers.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');

describe('Retry-After', () => {
  it('is read as seconds or as a date, never below zero', () => {
    expect(retryAfterMs('3', () => NOW)).toBe(3_000);
    expect(retryAfterMs('0', () => NOW)).toBe(0);
    expect(retryAfterMs('1.5', () => NOW)).toBe(1_500);
    expect(retryAfterMs('Sun, 01 Mar 2026 12:00:30 GMT', () => NOW)).toBe(30_000);
    expect(retryAfterMs('Sun, 01 Mar 2026 11:00:00 GMT', () => NOW)).toBe(0);
    expect(retryAfterMs('soon', () => NOW)).toBeNull();
    expect(retryAfterMs(undefined, () => NOW)).toBeNull();
  });

  it("is counted from the server's own clock, so that a wrong clock here does no harm", () => {
    const headers = { date: 'Sun, 01 Mar 2026 12:00:00 GMT', 'retry-after': 'Sun, 01 Mar 2026 12:00:10 GMT' };
    expect(headerFacts(headers, NOW - 86_400_000).retryAfterMs).toBe(10_000);
  });
});

describe('rate headers', () => {
  const rate = (reset: string, window: string) =>
    headerFacts({ 'x-ratelimit-reset': reset, 'x-ratelimit-window': window }, NOW).rate;

  it('are null where none was sent', () => {
    expect(headerFacts({}, NOW)).toEqual({ requestId: null, retryAfterMs: null, rate: null });
  });

  it('understand a reset as seconds to go and as a point in time', () => {
    expect(rate('20', '')?.resetMs).toBe(20_000);
    expect(rate(String(NOW / 1000 + 20), '')?.resetMs).toBe(20_000);
    expect(rate(String(NOW + 20_000), '')?.resetMs).toBe(20_000);
  });

  it('understand a window in seconds and with a unit', () => {
    for (const window of ['60', '60s', '1m', '60000ms', '1min', '60 seconds'])
      expect([window, rate('1', window)?.windowMs]).toEqual([window, 60_000]);
    expect(rate('1', 'a while')?.windowMs).toBeNull();
  });
});
