import { expect, test } from 'vitest';
import { LoginLimit } from '../../src/desk/access/login-limit.js';
import { newToken } from '../../src/desk/access/tokens.js';
import { startDesk } from '../support/desk.js';

test('after ten wrong tokens an address waits, in the form and as bearer, and a right one waits with it', async () => {
  const desk = await startDesk();
  try {
    const form = (token: string) => desk.call('/api/login', { method: 'POST', body: { token }, as: null });
    for (let i = 0; i < 5; i++) {
      expect((await form(newToken())).status).toBe(401);
      expect((await desk.call('/api/session', { as: newToken() })).status).toBe(401);
    }
    const refused = await form(desk.tokens.operator);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await desk.call('/api/session', { as: desk.tokens.operator })).status).toBe(429);
  } finally {
    await desk.close();
  }
});

test('the wait ends by itself, addresses are apart, and all together have a limit as well', () => {
  let now = 1_000_000;
  const limit = new LoginLimit(() => now);
  for (let i = 0; i < 10; i++) limit.noteWrong('10.0.0.1');
  expect(limit.waitSeconds('10.0.0.1')).toBe(60);
  expect(limit.waitSeconds('10.0.0.2')).toBe(0);
  for (let i = 0; i < 90; i++) limit.noteWrong(`10.0.1.${i}`);
  expect(limit.waitSeconds('10.0.0.2')).toBe(60);
  now += 60_000;
  expect(limit.waitSeconds('10.0.0.1')).toBe(0);
  expect(limit.waitSeconds('10.0.0.2')).toBe(0);
});
