import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startDesk, type TestDesk } from '../support/desk.js';

let desk: TestDesk;

beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk.close());

const page = z.object({
  entries: z.array(z.object({ at: z.string(), who: z.string(), what: z.string() })),
  next: z.string().nullable(),
});

/** The whole audit, page by page. */
async function audit(limit: number): Promise<z.infer<typeof page>['entries']> {
  const all: z.infer<typeof page>['entries'] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const from: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { entries, next } = page.parse((await desk.call(`/api/audit?limit=${limit}${from}`)).json());
    all.push(...entries);
    cursor = next;
  }
  return all;
}

const line = (who: string, what: string) => ({ who, what, why: null, batch: null });

describe('the audit', () => {
  test('is one list, newest first, whoever did it', async () => {
    const olga = await desk.login(desk.tokens.operator);
    await desk.call('/api/uploads?name=a.csv', { method: 'POST', body: 'member,tokens\n1,1\n' });
    await desk.login(desk.tokens.viewer);
    await desk.call('/api/overview', { as: 'almdesk_wrong' });
    await desk.call('/api/logout', { method: 'POST', body: {}, as: olga });
    const told = (await audit(2)).map(({ who, what }) => `${who} ${what}`);
    expect(told).toEqual([
      'olga signed out',
      'a stranger wrong desk tokens: 1 from 127.0.0.1',
      'vera signed in',
      'olga uploaded a.csv',
      'olga signed in',
    ]);
  });

  test('keeps what operators did, whatever viewers and strangers do', async () => {
    const { audit: trail } = desk.server.desk;
    for (const by of ['viewer', 'anyone'] as const)
      await Promise.all(Array.from({ length: 10_100 }, () => trail.write(line(by, 'knocked'), by)));
    const all = await audit(200);
    expect(all.filter(({ what }) => what === 'knocked')).toHaveLength(20_000);
    expect(all.slice(20_000).map(({ who, what }) => `${who} ${what}`)).toEqual([
      'olga signed out',
      'olga uploaded a.csv',
      'olga signed in',
    ]);
  });
});

test('a token has so many sessions, and the one that was idle longest gives way', async () => {
  const signedIn = async (as: Awaited<ReturnType<typeof desk.login>>) =>
    (await desk.call('/api/session', { as })).status === 200;
  const other = await desk.login(desk.tokens.operator);
  const pages = [];
  for (let tab = 0; tab < 20; tab++) pages.push(await desk.login(desk.tokens.viewer));
  const [first, second, third, ...rest] = pages;
  if (first === undefined || second === undefined || third === undefined) throw new Error('no pages');
  expect(await signedIn(first)).toBe(true);
  rest.push(first, await desk.login(desk.tokens.viewer));
  expect(await signedIn(second)).toBe(false);
  // Whoever signs out makes room.
  await desk.call('/api/logout', { method: 'POST', body: {}, as: third });
  rest.push(await desk.login(desk.tokens.viewer));
  for (const one of [...rest, other]) expect(await signedIn(one)).toBe(true);
});
