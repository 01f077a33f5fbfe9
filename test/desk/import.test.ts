import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ROUTES } from '../../src/desk/http/routes.js';
import { Tokens } from '../../src/operations/people/tokens.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { until } from '../support/until.js';

let desk: TestDesk;
const LIMITS = { bytesMax: 200_000, filesMax: 4, idleMs: 400, bytesPerSecondMin: 2_000 };

beforeAll(async () => {
  desk = await startDesk({ options: { uploadLimits: LIMITS, bodyMs: 300 } });
});
afterAll(() => desk.close());

const uploaded = z.object({ upload: z.string(), name: z.string(), bytes: z.number() });
const plan = z.object({
  rows: z.number(),
  faultCount: z.number(),
  faults: z.array(z.object({ line: z.number(), column: z.string().nullable(), code: z.string() })),
  payable: z.object({ orders: z.number(), tokens: z.string() }),
});
const started = z.object({
  existing: z.boolean(),
  workers: z.number(),
  summary: z.object({ batch: z.string(), state: z.string(), createdBy: z.string(), source: z.string() }),
});
const batch = z.object({
  summary: z.object({ state: z.string(), counts: z.record(z.string(), z.number()) }),
  can: z.array(z.string()),
});

async function upload(csv: string, name = 'airdrop.csv') {
  const reply = await desk.call(`/api/uploads?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    body: csv,
  });
  expect(reply.status).toBe(200);
  return uploaded.parse(reply.json());
}

const post = (path: string, body: unknown) => desk.call(path, { method: 'POST', body });
const leftovers = () => readdir(join(desk.folder, 'data', 'uploads'));

describe('an import through the desk', () => {
  test('a faulty file shows every fault with line and column, and cannot be started', async () => {
    const { upload: id } = await upload('member,tokens\n100,5\nabc,1e3\n101,0\n');
    const preview = plan.parse((await post(`/api/uploads/${id}/plan`, {})).json());
    expect(preview.faults.map(({ line, column }) => [line, column])).toEqual([
      [3, 'member'],
      [3, 'tokens'],
      [4, 'tokens'],
    ]);
    const faults = await desk.call(`/api/uploads/${id}/faults`);
    expect(faults.headers['content-disposition']).toContain('attachment');
    expect(faults.text.split('\n')[1]).toMatch(/^3,member,ALM_ROW_/);
    const start = await post(`/api/uploads/${id}/start`, { rows: 3, tokens: preview.payable.tokens });
    expect(start.status).toBe(422);
    expect((await desk.call(`/api/uploads/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(await leftovers()).toEqual([]);
  });

  test('a batch that was started and paused since a preview is not set going by it', async () => {
    const csv = `member,tokens\n${Array.from({ length: 10 }, (_, i) => `${22_000 + i},777\n`).join('')}`;
    const confirmed = { rows: 10, tokens: '7770' };
    const ids: string[] = [];
    for (let tab = 0; tab < 2; tab++) {
      const { upload: id } = await upload(csv);
      expect((await post(`/api/uploads/${id}/plan`, {})).json()).toMatchObject({ existing: false });
      ids.push(id);
    }
    const [one, two] = ids;
    const { summary } = started.parse((await post(`/api/uploads/${one}/start`, confirmed)).json());
    expect((await post(`/api/batches/${summary.batch}/pause`, { reason: 'wrong file' })).status).toBe(200);
    const state = async () =>
      batch.parse((await desk.call(`/api/batches/${summary.batch}`)).json()).summary.state;
    const stale = await post(`/api/uploads/${two}/start`, confirmed);
    expect(stale.json()).toMatchObject({ error: { code: 'ALM_PLAN_CHANGED' } });
    expect([stale.status, await state()]).toEqual([409, 'paused']);
    // Who has seen that it is paused may let it go on.
    expect((await post(`/api/uploads/${two}/plan`, {})).json()).toMatchObject({ existingState: 'paused' });
    const again = started.parse((await post(`/api/uploads/${two}/start`, confirmed)).json());
    expect([again.existing, await state()]).not.toContain('paused');
  });

  test('a good file starts only with its own rows and total, and a worker pays it', async () => {
    const rows = Array.from({ length: 30 }, (_, i) => `${1000 + i},${i + 1}`);
    const { upload: id, name } = await upload(`member,tokens\n${rows.join('\n')}\n`, '../../etc/June.csv');
    expect(name).toBe('June.csv');
    const preview = plan.parse((await post(`/api/uploads/${id}/plan`, {})).json());
    expect(preview).toMatchObject({ rows: 30, faultCount: 0, payable: { orders: 30, tokens: '465' } });

    for (const wrong of [
      { rows: 29, tokens: '465' },
      { rows: 30, tokens: '466' },
    ]) {
      const refused = await post(`/api/uploads/${id}/start`, wrong);
      expect(refused.status).toBe(409);
      expect(refused.json()).toMatchObject({ error: { code: 'ALM_DESK_CHANGED' } });
    }
    const { summary, existing, workers } = started.parse(
      (await post(`/api/uploads/${id}/start`, { rows: 30, tokens: '465' })).json(),
    );
    expect({ existing, workers }).toEqual({ existing: false, workers: 0 });
    expect(summary).toMatchObject({ state: 'planned', createdBy: 'olga', source: 'June.csv' });
    expect(await leftovers()).toEqual([]);
    expect((await desk.call('/api/overview')).json()).toMatchObject({ noWorker: true });

    await desk.startWorker();
    const done = await until('the batch to be done', async () => {
      const now = batch.parse((await desk.call(`/api/batches/${summary.batch}`)).json());
      return now.summary.state === 'done' && now;
    });
    expect(done.summary.counts).toEqual({ paid: 30 });
    expect(done.can).toEqual(['report', 'undo']);
    const audit = await desk.call(`/api/batches/${summary.batch}/audit`);
    expect(audit.text).toContain('olga');
    const undo = await desk.call(`/api/batches/${summary.batch}/undo`);
    expect(undo.text.split('\n').filter(Boolean)).toHaveLength(31);
  });

  test('the same orders again are the same batch and pay nobody twice', async () => {
    const csv = 'member,tokens,reference\n5000,7,june-1\n';
    const [one, two] = [await upload(csv), await upload(csv, 'again.csv')];
    const first = started.parse(
      (await post(`/api/uploads/${one.upload}/start`, { rows: 1, tokens: '7' })).json(),
    );
    const again = started.parse(
      (await post(`/api/uploads/${two.upload}/start`, { rows: 1, tokens: '7' })).json(),
    );
    expect(again).toMatchObject({ existing: true, summary: { batch: first.summary.batch } });
  });

  test('of two previews that share rows the second is not started: a new one shows them, and pays the others', async () => {
    const csv = (from: number, to: number) =>
      `member,tokens\n${Array.from({ length: to - from }, (_, i) => `${20_000 + from + i},3\n`).join('')}`;
    const [one, two] = [(await upload(csv(0, 30))).upload, (await upload(csv(5, 40))).upload];
    for (const id of [one, two])
      expect(plan.parse((await post(`/api/uploads/${id}/plan`, {})).json()).faultCount).toBe(0);
    const { summary } = started.parse(
      (await post(`/api/uploads/${one}/start`, { rows: 30, tokens: '90' })).json(),
    );
    const stale = await post(`/api/uploads/${two}/start`, { rows: 35, tokens: '105' });
    expect(stale.status).toBe(409);
    expect(stale.json()).toMatchObject({
      error: { code: 'ALM_PLAN_CHANGED', message: expect.stringContaining('lines 2-26') },
    });
    const shown = (await post(`/api/uploads/${two}/plan`, {})).json();
    expect(shown).toMatchObject({
      faults: [{ code: 'ALM_PLAN_LOOKS_PAID' }],
      looksPaid: [{ batch: summary.batch, rows: 25, lines: 'lines 2-26' }],
    });
    const both = { newRowsOnly: true, again: 'twice' };
    expect((await post(`/api/uploads/${two}/plan`, both)).status).toBe(400);
    const rest = (await post(`/api/uploads/${two}/plan`, { newRowsOnly: true })).json();
    expect(rest).toMatchObject({ faultCount: 0, duplicates: 25, payable: { orders: 10, tokens: '30' } });
    const confirmed = { newRowsOnly: true, rows: 35, tokens: '30' };
    const second = started.parse((await post(`/api/uploads/${two}/start`, confirmed)).json());
    expect(second.existing).toBe(false);
  });

  test('a preview that was pushed out by others is still held to what it showed', async () => {
    const csv = (from: number, to: number) =>
      `member,tokens\n${Array.from({ length: to - from }, (_, i) => `${21_000 + from + i},3\n`).join('')}`;
    const preview = async (rows: string) => {
      const { upload: id } = await upload(rows);
      expect(plan.parse((await post(`/api/uploads/${id}/plan`, {})).json()).faultCount).toBe(0);
      return id;
    };
    const shown = await preview(csv(0, 30));
    const few = await preview(csv(0, 4));
    await post(`/api/uploads/${few}/start`, { rows: 4, tokens: '12' });
    const others = [await preview(csv(40, 41)), await preview(csv(41, 42))];
    // Four rows of thirty are a warning, which nobody has seen.
    for (let tried = 0; tried < 2; tried++) {
      const stale = await post(`/api/uploads/${shown}/start`, { rows: 30, tokens: '90' });
      expect(stale.json()).toMatchObject({ error: { code: 'ALM_PLAN_CHANGED' } });
      expect(stale.status).toBe(409);
    }
    expect((await post(`/api/uploads/${shown}/plan`, {})).json()).toMatchObject({
      looksPaid: [{ rows: 4, lines: 'lines 2-5' }],
    });
    expect((await post(`/api/uploads/${shown}/start`, { rows: 30, tokens: '90' })).status).toBe(200);
    // Nothing has changed for these; the first one was pushed out as well.
    for (const id of others)
      expect((await post(`/api/uploads/${id}/start`, { rows: 1, tokens: '3' })).status).toBe(200);
  });
});

describe('plans of one upload', () => {
  const faulty = (rows: number) => `member,tokens\n${'1,x\n'.repeat(rows)}`;

  test('are held to the switches that were shown', async () => {
    const { upload: id } = await upload('member,tokens\n31000,3\n');
    await post(`/api/uploads/${id}/plan`, {});
    const other = await post(`/api/uploads/${id}/start`, { rows: 1, tokens: '3', again: 'june' });
    expect(other.json()).toMatchObject({ error: { code: 'ALM_DESK_CHANGED' } });
    expect((await post(`/api/uploads/${id}/start`, { rows: 1, tokens: '3' })).status).toBe(200);
  });

  test('end with it: nothing is kept of an upload that was thrown away while it was planned', async () => {
    const { upload: id } = await upload(faulty(20_000));
    const planning = post(`/api/uploads/${id}/plan`, {});
    expect((await desk.call(`/api/uploads/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await planning).json()).toMatchObject({ error: { code: 'ALM_DESK_UPLOAD_UNKNOWN' } });
    expect(await leftovers()).toEqual([]);
  });
});

describe('an upload of another person', () => {
  /** Every route with the id of an upload in its address, those of later versions too. */
  const ways = ROUTES.filter(({ path }) => path.includes(':upload'));
  const bodies: Readonly<Record<string, unknown>> = {
    plan: {},
    mend: { cells: [{ line: 2, column: 'tokens', text: '9' }] },
    start: { rows: 1, tokens: '4' },
  };

  test('answers in every route as one that does not exist, and stays as it is', async () => {
    const oscar = await new Tokens(desk.app.scripts).add('oscar', ['operator'], 'tester', Date.now());
    const { upload: id } = await upload('member,tokens\n31100,4\n');
    const { shown } = z
      .object({ shown: z.string() })
      .parse((await post(`/api/uploads/${id}/plan`, {})).json());
    expect(ways.length).toBeGreaterThanOrEqual(6);
    for (const { method, path } of ways) {
      const step = path.split('/').at(-1) ?? '';
      const body = bodies[step] ?? (method === 'POST' ? {} : undefined);
      const ask = (one: string) => desk.call(path.replace(':upload', one), { method, body, as: oscar });
      const [theirs, none] = [await ask(id), await ask('x'.repeat(22))];
      expect([method, path, theirs.status, theirs.text]).toEqual([method, path, 404, none.text]);
    }
    const named = { rows: 1, tokens: '4', shown };
    const begun = await desk.call(`/api/uploads/${id}/start`, { method: 'POST', body: named, as: oscar });
    expect(begun.json()).toMatchObject({ error: { code: 'ALM_DESK_UPLOAD_UNKNOWN' } });
    const { summary } = started.parse((await post(`/api/uploads/${id}/start`, named)).json());
    expect(summary).toMatchObject({ createdBy: 'olga' });
  });
});

test('what lies in closed tabs blocks nobody: the file used longest ago makes room, and only for its owner', async () => {
  const own = async (as?: string) =>
    z
      .object({ uploads: z.array(z.object({ upload: z.string() })) })
      .parse((await desk.call('/api/uploads', as === undefined ? {} : { as })).json())
      .uploads.map(({ upload: id }) => id);
  const otto = await new Tokens(desk.app.scripts).add('otto', ['operator'], 'tester', Date.now());
  const theirs = await desk.call('/api/uploads?name=b.csv', {
    method: 'POST',
    body: 'member,tokens\n1,1\n',
    as: otto,
  });
  expect(theirs.status).toBe(200);
  for (const id of await own()) await desk.call(`/api/uploads/${id}`, { method: 'DELETE' });
  const ids: string[] = [];
  for (let i = 0; i < LIMITS.filesMax; i++) ids.push((await upload('member,tokens\n1,1\n')).upload);
  expect(await own()).toEqual([...ids].reverse());
  // Looked at again, the first is not the oldest any more.
  await post(`/api/uploads/${ids[0]}/plan`, {});
  const { upload: last } = await upload('member,tokens\n1,2\n');
  expect(await own()).toEqual([last, ids[0], ids[3], ids[2]]);
  expect((await post(`/api/uploads/${ids[1]}/plan`, {})).status).toBe(404);
  expect(await own(otto)).toHaveLength(1);
  for (const id of await own()) await desk.call(`/api/uploads/${id}`, { method: 'DELETE' });
});

describe('hostile cells and names', () => {
  const nasty = '<script>alert(1)</script>';

  test('a script in a cell stays text: JSON, never HTML', async () => {
    const { upload: id } = await upload(`member,tokens,reason\n7000,5,${nasty}\n`);
    const { summary } = started.parse(
      (await post(`/api/uploads/${id}/start`, { rows: 1, tokens: '5' })).json(),
    );
    for (const path of [`/api/batches/${summary.batch}/orders`, `/api/orders/${summary.batch}-1`]) {
      const reply = await desk.call(path);
      expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(reply.text).toContain(nasty);
    }
  });

  test('a download names a file of the report or nothing', async () => {
    const { upload: id } = await upload('member,tokens\n8000,5\n');
    const { summary } = started.parse(
      (await post(`/api/uploads/${id}/start`, { rows: 1, tokens: '5' })).json(),
    );
    const files = `/api/batches/${summary.batch}/files`;
    expect((await post(`/api/batches/${summary.batch}/report`, {})).status).toBe(200);
    const results = await desk.call(`${files}/results.csv`);
    expect(results.status).toBe(200);
    expect(results.headers['content-disposition']).toContain(`${summary.batch}-results.csv`);
    expect((await desk.call(`${files}/report.html`)).headers['content-security-policy']).toContain('sandbox');
    for (const name of [
      '..%2f..%2fdata%2fx',
      '%2e%2e%2fresults.csv',
      '..',
      'results.csv%00.html',
      '%2fetc%2fpasswd',
      'nothing.csv',
    ]) {
      const reply = await desk.call(`${files}/${name}`);
      expect([name, reply.status]).toEqual([name, 404]);
      expect(reply.text).not.toContain(desk.folder);
    }
    expect(existsSync(join(desk.folder, 'reports', summary.batch, 'results.csv'))).toBe(true);
  });
});
