import { describe, expect, test } from 'vitest';
import { etaSeconds, type Waiting } from '../../src/core/waiting.js';

const NOW = Date.UTC(2026, 2, 1, 12, 0, 0);
const waiting = (why: Waiting['why'], orders: number, inSeconds: number | null): Waiting => ({
  why,
  message: '',
  orders,
  tokens: '0',
  since: new Date(NOW).toISOString(),
  until: inSeconds === null ? null : new Date(NOW + inSeconds * 1000).toISOString(),
  next: null,
  session: null,
});
const eta = (list: readonly Waiting[], perSecond: number | null = 2, open = 100) =>
  etaSeconds({ state: 'running', open, perSecond, waiting: list, nowMs: NOW });

describe('the time to go', () => {
  test('is what moves at its rate, nothing when nothing is open, and unknown without a rate', () => {
    expect(eta([])).toBe(50);
    expect(eta([], 2, 0)).toBe(0);
    expect(eta([], null)).toBeNull();
    expect(eta([], 0)).toBeNull();
  });

  test('is null where it depends on a person or on something whose end nobody knows', () => {
    for (const why of ['no-worker', 'paused', 'missing-session', 'disarmed'] as const)
      expect(eta([waiting(why, 4, null)])).toBeNull();
    // When the breaker gives up is not when the realm is back.
    expect(eta([waiting('breaker', 100, 900)])).toBeNull();
    expect(etaSeconds({ state: 'paused', open: 1, perSecond: 1, waiting: [], nowMs: NOW })).toBeNull();
  });

  test('does not end before the last of what waits, and a doubt holds up nothing', () => {
    expect(eta([waiting('settle-time', 3, 1200)])).toBe(1200);
    expect(eta([waiting('retry', 20, 10)])).toBe(40);
    expect(eta([waiting('settle-time', 100, 30)], null)).toBe(30);
    expect(eta([waiting('doubt', 5, null)])).toBe(50);
  });

  test('begins to count when the realm lets us go on', () => {
    expect(eta([waiting('hold', 100, 60)])).toBe(110);
    expect(eta([waiting('hold', 100, 60)], null)).toBeNull();
  });
});
