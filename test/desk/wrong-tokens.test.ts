import { pino } from 'pino';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { deskAddress } from '../../src/desk/http/access/address.js';
import { WrongTokens } from '../../src/desk/http/access/wrong-tokens.js';
import { newToken } from '../../src/operations/people/tokens.js';
import { ask, startDesk, type TestDesk } from '../support/program/desk.js';
import { until } from '../support/until.js';

const trail = z.object({ entries: z.array(z.object({ who: z.string(), what: z.string() })) });

async function audited(desk: TestDesk): Promise<string[]> {
  const { entries } = trail.parse((await desk.call('/api/audit')).json());
  return entries.filter(({ who }) => who === 'a stranger').map(({ what }) => what);
}

test('wrong tokens slow down only their senders: a right token is accepted at any time', async () => {
  const log: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void log.push(line) });
  const desk = await startDesk({ logger });
  try {
    const form = (token: string) => desk.call('/api/login', { method: 'POST', body: { token }, as: null });
    const page = await desk.login(desk.tokens.operator);
    const wrong = Array.from({ length: 110 }, newToken);
    const statuses: number[] = [];
    for (const [at, token] of wrong.entries())
      statuses.push((at % 2 === 0 ? await form(token) : await desk.call('/metrics', { as: token })).status);
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(100).fill(429)]);
    const refused = await form(newToken());
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    for (let i = 0; i < 20; i++) {
      expect((await form(desk.tokens.operator)).status).toBe(200);
      expect((await desk.call('/metrics', { as: desk.tokens.viewer })).status).toBe(200);
      expect((await desk.call('/api/session', { as: page })).status).toBe(200);
    }
    expect(await audited(desk)).toEqual(['wrong desk tokens: 1 from 127.0.0.1']);
    expect(log.filter((line) => line.includes('wrong desk tokens'))).toHaveLength(1);
    const all = `${log.join('')}${(await desk.call('/api/audit')).text}`;
    for (const token of wrong) expect(all).not.toContain(token);
  } finally {
    await desk.close();
  }
  // What was gathered meanwhile is said at the end.
  expect(log.filter((line) => line.includes('wrong desk tokens: 110 from 127.0.0.1'))).toHaveLength(1);
});

test('behind a proxy its word counts only where one was configured, and only if it is an address', async () => {
  const tried = async (publicUrl: string | undefined, forwarded: string) => {
    const address = deskAddress({ host: '127.0.0.1', publicUrl, insecureHttp: false });
    const desk = await startDesk({ options: { address } });
    try {
      const host = publicUrl === undefined ? `127.0.0.1:${desk.port}` : 'desk.example';
      const headers = { host, 'x-forwarded-for': forwarded };
      const url = `http://127.0.0.1:${desk.port}`;
      expect((await ask(`${url}/api/session`, { as: newToken(), headers })).status).toBe(401);
      const reply = await ask(`${url}/api/audit`, { as: desk.tokens.viewer, headers });
      return trail.parse(reply.json()).entries[0]?.what;
    } finally {
      await desk.close();
    }
  };
  expect(await tried(undefined, '203.0.113.7')).toBe('wrong desk tokens: 1 from 127.0.0.1');
  const behind = 'https://desk.example';
  expect(await tried(behind, '203.0.113.7')).toBe('wrong desk tokens: 1 from 203.0.113.7');
  // What the visitor claimed stands further left than what the proxy saw.
  expect(await tried(behind, '198.51.100.1, 203.0.113.7')).toBe('wrong desk tokens: 1 from 203.0.113.7');
  expect(await tried(behind, '"><script>')).toBe('wrong desk tokens: 1 from 127.0.0.1');
});

test('the wait is each address’s own and ends by itself', async () => {
  let now = 1_000_000;
  const wrong = new WrongTokens({ now: () => now, tell: async () => {} });
  for (let i = 0; i < 10; i++) expect(await wrong.note('10.0.0.1')).toBe(0);
  expect(await wrong.note('10.0.0.1')).toBe(60);
  for (let i = 0; i < 1_000; i++) expect(await wrong.note(`10.1.${i >> 8}.${i & 255}`)).toBe(0);
  expect(await wrong.note('10.0.0.2')).toBe(0);
  now += 59_500;
  expect(await wrong.note('::ffff:10.0.0.1')).toBe(1);
  now += 500;
  expect(await wrong.note('10.0.0.1')).toBe(0);
  for (let i = 0; i < 10; i++) expect(await wrong.note(`2001:db8:1:2::${i}`)).toBe(0);
  expect(await wrong.note('2001:DB8:1:2:ffff:1:2:3')).toBe(60);
  expect(await wrong.note('2001:db8:1:3::1')).toBe(0);
  wrong.close();
});

test('an address is one however it is spelt', async () => {
  const wrong = new WrongTokens({ now: () => 0, tell: async () => {} });
  for (let i = 0; i < 10; i++) expect(await wrong.note('2001:db8::1')).toBe(0);
  for (const same of ['2001:db8:0:0:1::', '2001:0db8:0000::9', '2001:DB8:0:0:ffff:1:2:3', '2001:db8::1%eth0'])
    expect([same, await wrong.note(same)]).toEqual([same, 60]);
  for (const other of ['2001:db8:0:1::1', '2001:db8:1::1', '::1']) expect(await wrong.note(other)).toBe(0);
  for (let i = 0; i < 10; i++) expect(await wrong.note('10.0.0.1')).toBe(0);
  for (const same of ['::ffff:10.0.0.1', '::FFFF:a00:1', '0:0:0:0:0:ffff:0a00:0001'])
    expect([same, await wrong.note(same)]).toEqual([same, 60]);
  wrong.close();
});

test('however many come from wherever, they are told in few lines of bounded length', async () => {
  const told: string[] = [];
  const wrong = new WrongTokens({
    now: () => 0,
    tell: async (what) => void told.push(what),
    tellEveryMs: 100,
  });
  await wrong.note('10.0.0.9');
  for (let i = 0; i < 5_000; i++) await wrong.note(`10.1.${i >> 8}.${i & 255}`);
  const early = told.length;
  await until('the rest to be told', () => told.length > early || told.join().includes('elsewhere'));
  wrong.close();
  expect(told[0]).toBe('wrong desk tokens: 1 from 10.0.0.9');
  const counted = told.flatMap((line) => [...line.matchAll(/(\d+) from/g)].map(([, count]) => Number(count)));
  expect(counted.reduce((sum, count) => sum + count, 0)).toBe(5_001);
  expect(Math.max(...told.map((line) => line.length))).toBeLessThan(200);
});
