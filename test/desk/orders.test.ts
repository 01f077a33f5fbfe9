import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { findBatch } from '../../src/ledger/read/batches.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { type PickyRealm, startPickyRealm } from '../support/program/picky-realm.js';
import { until } from '../support/until.js';

/** One batch of 603 rows: 600 paid, but three of them refused and two in doubt, one member twice. */
let realm: PickyRealm;
let desk: TestDesk;
let batch: string;

const page = z.object({
  orders: z.array(
    z.object({
      order: z.string(),
      line: z.number(),
      member: z.string().nullable(),
      state: z.string(),
      class: z.string().nullable(),
    }),
  ),
  next: z.string().nullable(),
  scanned: z.number(),
  of: z.number(),
});
const task = z.object({
  task: z.string(),
  state: z.string(),
  done: z.number(),
  refusedCount: z.number(),
  became: z.object({ counts: z.record(z.string(), z.number()), unpaid: z.array(z.unknown()) }).nullable(),
});

beforeAll(async () => {
  realm = await startPickyRealm();
  desk = await startDesk({ env: realm.env });
  await desk.startWorker();
  const rows = Array.from({ length: 600 }, (_, i) => `${100_000 + i},${i + 1},,ref-${i}`);
  rows.splice(300, 0, '900001,5,,bad-1', '900002,6,,bad-2', '800001,7,,lost-1');
  rows.splice(10, 1, '900003,5,,bad-3');
  rows.splice(20, 1, '800002,9,,lost-2');
  rows.splice(30, 1, '100599,1,100000,moved');
  const csv = `member,tokens,recipient,reference,op\n${rows.map((row) => `${row},${row.includes('moved') ? 'transfer' : 'credit'}`).join('\n')}\n`;
  const sent = await desk.call('/api/uploads?name=many.csv', { method: 'POST', body: csv });
  const { upload } = z.object({ upload: z.string() }).parse(sent.json());
  const preview = z
    .object({ rows: z.number(), payable: z.object({ tokens: z.string() }), shown: z.string() })
    .parse((await desk.call(`/api/uploads/${upload}/plan`, { method: 'POST', body: {} })).json());
  const body = { rows: preview.rows, tokens: preview.payable.tokens, shown: preview.shown };
  const start = await desk.call(`/api/uploads/${upload}/start`, { method: 'POST', body });
  batch = z.object({ summary: z.object({ batch: z.string() }) }).parse(start.json()).summary.batch;
  await until('the batch to be done', async () => (await stateOf()) === 'done', 60_000);
}, 90_000);
afterAll(async () => {
  await desk.close();
  await realm.close();
});

async function stateOf(): Promise<string> {
  const reply = (await desk.call(`/api/batches/${batch}`)).json();
  return z.object({ summary: z.object({ state: z.string() }) }).parse(reply).summary.state;
}

async function orders(query: Record<string, string>, path = `/api/batches/${batch}/orders`) {
  const found: z.infer<typeof page>['orders'] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const all: Record<string, string> = { ...query, ...(cursor === null ? {} : { cursor }) };
    const reply = page.parse((await desk.call(`${path}?${new URLSearchParams(all)}`)).json());
    found.push(...reply.orders);
    cursor = reply.next;
    pages += 1;
  } while (cursor !== null);
  return { found, pages };
}

async function settle(path: string, body: unknown) {
  const begun = task.parse((await desk.call(path, { method: 'POST', body })).json());
  return until('the task to end', async () => {
    const now = task.parse((await desk.call(`/api/tasks/${begun.task}`)).json());
    return now.state !== 'running' && now;
  });
}

describe('the table of orders', () => {
  test('pages through all rows in file order, each exactly once', async () => {
    const { found, pages } = await orders({ limit: '200' });
    expect(found.map(({ line }) => line)).toEqual(Array.from({ length: 603 }, (_, i) => i + 2));
    expect(pages).toBe(4);
  });

  test('filters by any state, with and without an attention list', async () => {
    expect((await orders({ state: 'refused' })).found.map(({ member }) => member)).toEqual([
      '900003',
      '900001',
      '900002',
    ]);
    expect((await orders({ state: 'doubt', limit: '1' })).found.map(({ member }) => member)).toEqual([
      '800002',
      '800001',
    ]);
    expect((await orders({ state: 'paid', limit: '100' })).found).toHaveLength(598);
    expect((await orders({ state: 'planned' })).found).toEqual([]);
  });

  test('searches by member, recipient, reference, line and error, and by class', async () => {
    const lines = async (query: Record<string, string>) =>
      (await orders(query)).found.map(({ line }) => line);
    expect(await lines({ search: '900001', field: 'member' })).toEqual([302]);
    expect(await lines({ search: '100000', field: 'recipient' })).toEqual([32]);
    expect(await lines({ search: 'ref-5', field: 'reference' })).toEqual([7]);
    expect(await lines({ search: '500', field: 'line' })).toEqual([500]);
    expect(await lines({ search: '1', field: 'line' })).toEqual([]);
    expect(await lines({ search: 'BAD-', field: 'any' })).toEqual([12, 302, 303]);
    expect(await lines({ search: 'not found', field: 'error' })).toEqual([12, 302, 303]);
    const [first] = (await orders({ state: 'refused' })).found;
    expect(await lines({ class: first?.class ?? '' })).toEqual([12, 302, 303]);
    expect(await lines({ search: '900001', field: 'member', state: 'paid' })).toEqual([]);
  });

  test('one order tells all it met, with its row’s own cells', async () => {
    const reply = (await desk.call(`/api/orders/${batch}-301`)).json();
    expect(reply).toMatchObject({
      order: { member: '900001', state: 'refused', status: 404, reference: 'bad-1' },
      can: ['retry', 'discard'],
    });
    expect(reply).toHaveProperty('history.0.body');
    expect(reply).toHaveProperty('cells.0', { column: 'member', value: '900001' });
  });

  test('a member’s history finds both sides', async () => {
    const { found } = await orders({}, '/api/members/100000/history');
    expect(found.map(({ line }) => line)).toEqual([2, 32]);
  });

  test('the metrics count orders by state and answers by status', async () => {
    const { text } = await desk.call('/metrics');
    expect(text).toContain('almoner_orders_total{realm="picky",state="refused"} 3');
    expect(text).toContain('almoner_answers_total{realm="picky",status="404"} 3');
    expect(text).toContain('almoner_answers_total{realm="picky",status="500"} 2');
    expect(text).toContain('almoner_request_seconds_count{realm="picky"} 603');
  });

  test('the search field finds batches by id and file, and pages through orders of every meaning', async () => {
    const wholes = async (q: string) =>
      z
        .object({ batches: z.array(z.object({ batch: z.string(), by: z.array(z.string()) })) })
        .parse((await desk.call(`/api/find?q=${q}`)).json()).batches;
    expect(await wholes(batch.slice(0, 5))).toMatchObject([{ batch, by: ['batch'] }]);
    expect(await wholes('MANY')).toMatchObject([{ batch, by: ['file'] }]);
    const find = async (q: string, more = {}) => {
      const { found, pages } = await orders({ q, ...more }, '/api/find/orders');
      return { lines: found.map(({ line }) => line), pages };
    };
    expect((await find(`${batch}-3`)).lines).toEqual([4]);
    expect((await find('lost-2')).lines).toEqual([22]);
    expect((await find('100000')).lines).toEqual([2, 32]);
    expect((await find('today', { by: 'day', limit: '200' })).lines).toHaveLength(603);
    // One row at a time, and each once.
    const one = await find('5', { limit: '1' });
    expect(one.lines).toEqual([6, 12, 302]);
    expect(one.pages).toBeGreaterThan(2);
  });

  test('a search refuses a cursor that nobody gave out', async () => {
    for (const cursor of ['7', 'ab.1.1', 'x'])
      expect((await desk.call(`/api/find/orders?q=5&cursor=${cursor}`)).status).toBe(400);
  });
});

describe('dead letters', () => {
  const groups = z.object({
    groups: z.array(
      z.object({ class: z.string(), message: z.string(), count: z.number(), tokens: z.string() }),
    ),
  });

  test('are grouped by what went wrong, whatever member it names', async () => {
    const { groups: found } = groups.parse((await desk.call('/api/dead')).json());
    expect(found).toEqual([expect.objectContaining({ count: 3, tokens: '16' })]);
  });

  test('an action does nothing when the number confirmed is not the number meant', async () => {
    const reply = await desk.call('/api/dead/retry', { method: 'POST', body: { batch, expect: 2 } });
    expect(reply.status).toBe(409);
    expect((await orders({ state: 'refused' })).found).toHaveLength(3);
    expect(
      (await desk.call('/api/dead/discard', { method: 'POST', body: { batch, expect: 3 } })).status,
    ).toBe(400);
  });

  test('a retry tells what became of each order, and is not over before they have ended', async () => {
    const worker = async () =>
      z
        .object({ summary: z.object({ worker: z.string() }) })
        .parse((await desk.call(`/api/batches/${batch}`)).json()).summary.worker;
    // As if a run had worked it: a retry gives its orders to the workers, and that is said.
    const { ledger, no } = await findBatch(desk.app.scripts, batch);
    await ledger.scripts.redis.hset(`${ledger.keyPrefix}:b:${no}`, { owner: 'a-run', version: 1e6 });
    expect(await worker()).toBe('run');
    const ended = await settle('/api/dead/retry', { orders: [`${batch}-11`], expect: 1 });
    expect(ended).toMatchObject({ done: 1, refusedCount: 0 });
    const became = await until('it to be refused again', async () => {
      const now = task.parse((await desk.call(`/api/tasks/${ended.task}`)).json());
      return now.became?.counts.refused === 1 && now.became;
    });
    await until('the batch to say so', async () => (await worker()) === 'workers');
    expect(became).toEqual({
      counts: { refused: 1 },
      unpaid: [{ order: `${batch}-11`, state: 'refused', why: expect.stringContaining('not found') }],
    });
  });

  test('one is discarded with a reason, the rest of the group retried and paid', async () => {
    const one = [`${batch}-11`];
    expect(
      await settle('/api/dead/discard', { orders: one, expect: 1, reason: 'left the club' }),
    ).toMatchObject({ done: 1 });
    const [group] = groups.parse((await desk.call(`/api/dead?batch=${batch}`)).json()).groups;
    const selection = { batch, class: group?.class, message: group?.message };
    const count = await desk.call('/api/dead/count', { method: 'POST', body: selection });
    expect(count.json()).toEqual({
      ...{ count: 2, tokens: '11', which: expect.any(String) },
      amounts: { credit: '11', debit: '0', transfer: '0' },
    });
    realm.forgive('9');
    expect(await settle('/api/dead/retry', { ...selection, expect: 2 })).toMatchObject({
      done: 2,
      refusedCount: 0,
    });
    const times = (wanted: string) => realm.writes.filter((member) => member === wanted).length;
    await until('both to be sent again', () => times('900001') === 2 && times('900002') === 2);
    await until('the batch to be done again', async () => (await stateOf()) === 'done');
    expect((await orders({ state: 'paid', limit: '200' })).found).toHaveLength(600);
    expect(times('900003')).toBe(2);
  });

  test('what was discarded leaves every count of what waits for a person', async () => {
    const realms = z.object({ realms: z.array(z.object({ dead: z.number(), unsettledMark: z.string() })) });
    const cards = async () => realms.parse((await desk.call('/api/overview')).json()).realms;
    await until('the overview to say so', async () => (await cards())[0]?.dead === 0);
    expect((await orders({ state: 'refused' })).found).toHaveLength(1);
    expect((await desk.call('/api/dead')).json()).toEqual({ groups: [], scanned: 0, of: 0 });
    expect(page.parse((await desk.call('/api/dead/orders')).json()).of).toBe(0);
    const { text } = await desk.call('/metrics');
    expect(text).toContain('almoner_dead_letters{realm="picky"} 0');
    const refused = (name: string) =>
      Number(new RegExp(`^almoner_${name}\\{realm="picky",state="refused"\\} (\\d+)$`, 'm').exec(text)?.[1]);
    expect(refused('orders_total')).toBeGreaterThan(3);
    expect(refused('orders_total') - refused('orders_left_total')).toBe(1);
  });
});

describe('doubts', () => {
  test('show the evidence of both decisions without asking the realm, and with the balance of now', async () => {
    const { found } = await orders({}, '/api/doubts');
    expect(found.map(({ member }) => member)).toEqual(['800002', '800001']);
    const order = found[0]?.order;
    const evidence = (await desk.call(`/api/doubts/${order}`)).json();
    expect(evidence).toMatchObject({ requestId: 'req-800002', sides: [{ member: '800002', now: null }] });
    const now = (await desk.call(`/api/doubts/${order}?now=true`)).json();
    expect(now).toMatchObject({ sides: [{ member: '800002', now: '100' }] });
    // Reads go at the pace of the payments: a viewer's would slow them down.
    const as = desk.tokens.viewer;
    expect((await desk.call(`/api/doubts/${order}`, { as })).status).toBe(200);
    const refused = await desk.call(`/api/doubts/${order}?now=true`, { as });
    expect(refused.json()).toMatchObject({ error: { code: 'ALM_DESK_ROLE' } });
  });

  test('a decision is bound to the orders that were counted: with others nothing is done', async () => {
    const shape = z.object({ count: z.number(), tokens: z.string(), which: z.string() });
    const count = async (body: unknown) =>
      shape.parse((await desk.call('/api/doubts/count', { method: 'POST', body })).json());
    const all = await count({});
    expect(all).toMatchObject({ count: 2, tokens: '16' });
    const one = await count({ orders: [`${batch}-21`] });
    const asked = { decision: 'paid', reason: 'x' };
    const resolve = async (body: unknown) =>
      (await desk.call('/api/doubts/resolve', { method: 'POST', body })).json();
    for (const body of [
      { ...asked, expect: 1, which: one.which },
      { ...asked, expect: 2, which: one.which },
      { ...asked, orders: [`${batch}-304`], expect: 1, which: one.which },
    ])
      expect(await resolve(body)).toMatchObject({ error: { code: 'ALM_DESK_CHANGED' } });
    expect(await resolve({ ...asked, expect: 2 })).toMatchObject({ error: { code: 'ALM_DESK_BAD_REQUEST' } });
    expect(await resolve({ ...asked, orders: [`${batch}-1`], expect: 1 })).toMatchObject({
      error: { code: 'ALM_BATCH_DECISIONS' },
    });
    expect((await orders({}, '/api/doubts')).found).toHaveLength(2);
  });

  test('end by an operator’s word with a reason, and nothing is sent', async () => {
    const sent = realm.writes.length;
    const body = { orders: [`${batch}-21`], decision: 'paid', expect: 1 };
    expect((await desk.call('/api/doubts/resolve', { method: 'POST', body })).status).toBe(400);
    expect(await settle('/api/doubts/resolve', { ...body, reason: 'seen upstream' })).toMatchObject({
      done: 1,
    });
    const counted = await desk.call('/api/doubts/count', { method: 'POST', body: { batch } });
    const { which } = z.object({ which: z.string() }).parse(counted.json());
    const unnamed = { batch, decision: 'unpaid', expect: 1, reason: 'not there' };
    expect((await desk.call('/api/doubts/resolve', { method: 'POST', body: unnamed })).status).toBe(400);
    const unpaid = { ...unnamed, which };
    const early = await desk.call('/api/doubts/resolve', { method: 'POST', body: unpaid });
    expect([early.status, early.json()]).toMatchObject([
      409,
      { error: { code: 'ALM_BATCH_MAY_ARRIVE', details: [expect.stringContaining('may arrive until')] } },
    ]);
    expect((await orders({}, '/api/doubts')).found).toHaveLength(1);
    expect(await settle('/api/doubts/resolve', { ...unpaid, mayArrive: true })).toMatchObject({ done: 1 });
    const shut = await settle('/api/dead/retry', { batch, class: 'ALM_SEND_SAID_UNPAID', expect: 1 });
    expect(shut).toMatchObject({ done: 0, refusedCount: 1 });
    expect((await desk.call(`/api/orders/${batch}-21`)).json()).toMatchObject({
      order: { state: 'paid', evidence: 'operator' },
    });
    expect((await orders({ state: 'exhausted' })).found).toHaveLength(1);
    expect(realm.writes).toHaveLength(sent);
  });

  test('both audits say who, what and why, and the desk’s which batch, how many orders and tokens', async () => {
    const entries = z.object({
      entries: z.array(z.looseObject({ who: z.string(), what: z.string(), why: z.string().nullable() })),
    });
    const own = entries.parse((await desk.call(`/api/batches/${batch}/audit`)).json()).entries;
    expect(own).toContainEqual(expect.objectContaining({ who: 'olga', why: 'seen upstream' }));
    expect(own).toContainEqual(expect.objectContaining({ who: 'olga', why: 'left the club' }));
    const all = entries.parse((await desk.call('/api/audit')).json()).entries;
    expect(all).toContainEqual(
      expect.objectContaining({
        who: 'olga',
        what: expect.stringMatching(`^resolved ${batch}-[0-9]+ as unpaid$`),
        why: 'not there',
        batch,
        orders: 1,
        tokens: expect.stringMatching(/^[1-9]/),
      }),
    );
    expect(all).toContainEqual(
      expect.objectContaining({
        what: expect.stringMatching(`^discarded ${batch}-[0-9]+$`),
        batch,
        orders: 1,
        tokens: expect.anything(),
      }),
    );
  });
});
