import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { AuditTrail } from '../../src/operations/people/audit.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';

let desk: TestDesk;

beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk.close());

const page = z.object({
  entries: z.array(
    z.object({
      at: z.string(),
      who: z.string(),
      what: z.string(),
      batch: z.string().nullable(),
      orders: z.number().nullable(),
      tokens: z.string().nullable(),
    }),
  ),
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
  test('is one list, newest first, for all people', async () => {
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
    const trail = new AuditTrail(desk.app.scripts, 1_000);
    for (const by of ['viewer', 'anyone'] as const)
      await Promise.all(Array.from({ length: 1_100 }, () => trail.write(line(by, 'knocked'), by)));
    const all = await audit(200);
    expect(all.filter(({ what }) => what === 'knocked')).toHaveLength(2_000);
    expect(all.slice(2_000).map(({ who, what }) => `${who} ${what}`)).toEqual([
      'olga signed out',
      'olga uploaded a.csv',
      'olga signed in',
    ]);
  });
});

describe('an audit of many lines', () => {
  const MANY = 12_000;
  beforeAll(async () => {
    const { audit: trail } = desk.server.desk;
    for (let from = 0; from < MANY; from += 1_000)
      await Promise.all(
        Array.from({ length: 1_000 }, (_, at) =>
          trail.write(
            { ...line('otto', `did ${from + at}`), batch: at === 0 ? `b${from}` : null },
            'operator',
          ),
        ),
      );
  });

  test('is exported whole, and nothing of what operators did was let go', async () => {
    const file = await desk.call('/api/audit.csv?who=otto', { as: desk.tokens.viewer });
    const [head, ...rows] = file.text.trimEnd().split('\n');
    expect(head).toBe('at,who,what,why,batch,orders,tokens');
    expect(new Set(rows.map((row) => row.split(',')[2])).size).toBe(MANY);
    expect(rows).toHaveLength(MANY);
    expect((await desk.call('/api/audit.csv', { as: null })).status).toBe(401);
  });

  test('is filtered by text, person and day, over as many pages as it takes', async () => {
    const found = async (query: string) => {
      const all: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const from: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const { entries, next } = page.parse((await desk.call(`/api/audit?${query}${from}`)).json());
        all.push(...entries.map(({ what }) => what));
        cursor = next;
      }
      return all;
    };
    expect(await found('text=UPLOADED')).toEqual(['uploaded a.csv']);
    expect(await found('text=b3000')).toEqual(['did 3000']);
    expect(await found('who=otto&text=did%20119')).toHaveLength(1 + 10 + 100);
    const today = new Date().toISOString().slice(0, 10);
    expect(await found(`who=otto&text=did%2011999&from=${today}&to=${today}`)).toHaveLength(1);
    expect(await found('to=2020-01-01')).toEqual([]);
    expect(await found('from=2999-01-01')).toEqual([]);
    expect((await desk.call('/api/audit?from=yesterday')).status).toBe(400);
  });
});

test('a start names its batch, its orders and their sum', async () => {
  const sent = await desk.call('/api/uploads?name=two.csv', {
    method: 'POST',
    body: 'member,tokens\n11,5\n12,7\n',
  });
  const { upload } = z.object({ upload: z.string() }).parse(sent.json());
  const reply = await desk.call(`/api/uploads/${upload}/start`, {
    method: 'POST',
    body: { rows: 2, tokens: '12' },
  });
  const { summary } = z.object({ summary: z.object({ batch: z.string() }) }).parse(reply.json());
  const { entries } = page.parse((await desk.call('/api/audit?limit=1')).json());
  expect(entries).toMatchObject([
    { what: 'import of two.csv: 2 rows', batch: summary.batch, orders: 2, tokens: '12' },
  ]);
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
