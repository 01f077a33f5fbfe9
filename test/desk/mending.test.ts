import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { findBatch, readBatch } from '../../src/ledger/index.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';

/** What people do to a file on the desk before it is started: say what its columns are, give a table, mend cells. */
let desk: TestDesk;
let oskar: string;

beforeAll(async () => {
  desk = await startDesk({
    options: { uploadLimits: { bytesMax: 200_000, filesMax: 4, idleMs: 400, bytesPerSecondMin: 2_000 } },
  });
  oskar = await desk.server.desk.tokens.add('oskar', ['operator'], 'tester', Date.now());
});
afterAll(() => desk.close());
beforeEach(async () => {
  const listed = z.object({ uploads: z.array(z.object({ upload: z.string() })) });
  for (const as of [desk.tokens.operator, oskar])
    for (const { upload: id } of listed.parse((await desk.call('/api/uploads', { as })).json()).uploads)
      await desk.call(`/api/uploads/${id}`, { method: 'DELETE', as });
});

const uploaded = z.object({ upload: z.string(), name: z.string(), bytes: z.number() });
const planned = z.object({
  shown: z.string(),
  rows: z.number(),
  fileSha256: z.string().nullable(),
  memberTable: z.object({ name: z.string(), sha256: z.string() }).nullable(),
  columns: z
    .object({
      headerBelow: z.number().nullable(),
      kept: z.looseObject({ who: z.string() }).nullable(),
      found: z.array(z.object({ name: z.string(), meaning: z.string().nullable() })),
    })
    .nullable(),
  faults: z.array(
    z.object({
      line: z.number(),
      column: z.string().nullable(),
      code: z.string(),
      cell: z.string().optional(),
    }),
  ),
  faultCount: z.number(),
  firstOrders: z.array(z.string()),
  payable: z.object({ orders: z.number(), tokens: z.string() }),
});
const refused = z.object({ error: z.object({ code: z.string(), message: z.string(), next: z.string() }) });

async function upload(csv: string, name = 'drop.csv', as = desk.tokens.operator) {
  const reply = await desk.call(`/api/uploads?name=${name}`, { method: 'POST', body: csv, as });
  return uploaded.parse(reply.json()).upload;
}
const post = (path: string, body: unknown = {}, as = desk.tokens.operator) =>
  desk.call(path, { method: 'POST', body, as });
const plan = async (id: string, said = {}) => {
  const reply = await post(`/api/uploads/${id}/plan`, said);
  expect(reply.status, reply.text).toBe(200);
  return planned.parse(reply.json());
};
const mend = (id: string, cells: unknown, as = desk.tokens.operator) =>
  post(`/api/uploads/${id}/mend`, { cells }, as);
const fileOf = async (id: string) => (await desk.call(`/api/uploads/${id}/file`)).text;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const start = async (id: string, said = {}) => {
  const { rows, payable } = await plan(id, said);
  const reply = await post(`/api/uploads/${id}/start`, { ...said, rows, tokens: payable.tokens });
  expect(reply.status, reply.text).toBe(200);
  return z.object({ summary: z.object({ batch: z.string(), source: z.string() }) }).parse(reply.json())
    .summary;
};

describe('mending', () => {
  const FILE = '\uFEFFmember;tokens;reason\r\n31001;"5";a\r\n31002;abc;"b;\r\nc"\r\nme;7;d\r\n31004;8\r\n';

  test('faults of cells come with what stands there; rows whose cells may have shifted without', async () => {
    const { faults } = await plan(await upload(FILE));
    expect(faults.map(({ line, column, cell }) => [line, column, cell])).toEqual([
      [3, 'tokens', 'abc'],
      [5, 'member', 'me'],
      [6, null, undefined],
    ]);
  });

  test('gives a new file that can be downloaded, planned and started, and whose hash is sealed', async () => {
    const file = FILE.replace('31004;8\r\n', '31004;8;\r\n');
    const id = await upload(file);
    await plan(id);
    const reply = await mend(id, [
      { line: 3, column: 'tokens', text: '6' },
      { line: 5, column: 'member', text: '31003' },
    ]);
    const { upload: made, name, bytes } = uploaded.parse(reply.json());
    const expected = file.replace('abc', '6').replace('me;7', '31003;7');
    expect([name, bytes]).toEqual(['drop-mended.csv', Buffer.byteLength(expected)]);
    expect([await fileOf(made), await fileOf(id)]).toEqual([expected, file]);
    expect(await plan(made)).toMatchObject({ faultCount: 0, fileSha256: sha256(expected) });
    const { batch, source } = await start(made);
    expect(source).toBe('drop-mended.csv');
    const view = await readBatch(await findBatch(desk.app.scripts, batch));
    expect(view?.manifest).toMatchObject({ fileSha256: sha256(expected) });
  });

  test.each([
    ['a line that is none', [{ line: 77, column: 'tokens', text: '5' }], 'No row begins on line 77.'],
    ['a column that is none', [{ line: 3, column: 'Tokens', text: '5' }], 'no column "Tokens"'],
    [
      'a cell twice',
      [
        { line: 3, column: 'tokens', text: '5' },
        { line: 3, column: 'tokens', text: '5' },
      ],
      'is given twice',
    ],
    ['a row that is too short', [{ line: 6, column: 'tokens', text: '5' }], 'in the file itself'],
    ['no cell', [], 'was not understood'],
    ['half a character', [{ line: 3, column: 'tokens', text: '\ud800' }], 'was not understood'],
    [
      'too many',
      Array.from({ length: 201 }, (_, at) => ({ line: at + 2, column: 'tokens', text: '5' })),
      'was not understood',
    ],
  ])('refuses %s, and keeps nothing of it', async (_, cells, message) => {
    const id = await upload(FILE);
    await plan(id);
    const reply = await mend(id, cells);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(refused.parse(reply.json()).error.message).toContain(message);
    expect(await readdir(join(desk.folder, 'data', 'uploads'))).toHaveLength(2);
  });

  test('is for whoever uploaded the file, and for operators', async () => {
    const id = await upload(FILE);
    await plan(id);
    const cells = [{ line: 3, column: 'tokens', text: '6' }];
    for (const reply of [
      await mend(id, cells, oskar),
      await desk.call(`/api/uploads/${id}/file`, { as: oskar }),
    ])
      expect(refused.parse(reply.json()).error.code).toBe('ALM_DESK_UPLOAD_UNKNOWN');
    const viewer = desk.tokens.viewer;
    for (const reply of [
      await mend(id, cells, viewer),
      await desk.call(`/api/uploads/${id}/file`, { as: viewer }),
    ])
      expect(reply.status).toBe(403);
  });

  test('keeps to the limits of an upload, and needs a look at the file before', async () => {
    const id = await upload(`member,tokens,reason\n1,x,${'y'.repeat(199_900)}\n`);
    const cells = [{ line: 2, column: 'tokens', text: '5'.repeat(900) }];
    expect(refused.parse((await mend(id, cells)).json()).error.code).toBe('ALM_FILE_MEND');
    await plan(id);
    const reply = await mend(id, cells);
    expect([reply.status, refused.parse(reply.json()).error.code]).toEqual([
      413,
      'ALM_DESK_UPLOAD_TOO_LARGE',
    ]);
  });
});

describe('a table of members', () => {
  const FILE = 'wallet,tokens\n0xAA,5\n0xBB,6\n';
  const TABLE = 'member,wallet\n31101,0xaa\n31102,0xbb\n';

  test('gives the members, is shown with its hash, and goes with the file', async () => {
    const [id, members] = [await upload(FILE), await upload(TABLE, 'table.csv')];
    expect((await plan(id)).faults.map(({ code }) => code)).toEqual(['ALM_FILE_COLUMN_MISSING']);
    const shown = await plan(id, { members });
    expect(shown).toMatchObject({ faultCount: 0, memberTable: { name: 'table.csv', sha256: sha256(TABLE) } });
    await start(id, { members });
    expect(await readdir(join(desk.folder, 'data', 'uploads'))).toEqual([]);
  });

  test('that is gone, or another person’s, is said so; the file is not planned without it', async () => {
    const id = await upload(FILE.replace('5', '7'));
    const members = await upload(TABLE, 'table.csv');
    const others = await upload(TABLE, 'table.csv', oskar);
    const { rows, payable } = await plan(id, { members });
    expect((await desk.call(`/api/uploads/${members}`, { method: 'DELETE' })).status).toBe(200);
    for (const table of [members, others])
      for (const step of ['plan', 'start']) {
        const confirmed = step === 'start' ? { rows, tokens: payable.tokens } : {};
        const body = { members: table, ...confirmed };
        const reply = await post(`/api/uploads/${id}/${step}`, body);
        expect([step, reply.status, refused.parse(reply.json()).error.code]).toEqual([
          step,
          404,
          'ALM_DESK_TABLE_UNKNOWN',
        ]);
      }
    expect((await plan(id)).faultCount).toBe(1);
  });

  test('that is in use is not the first to make room', async () => {
    const members = await upload(TABLE, 'table.csv');
    const id = await upload('wallet,tokens\n0xAA,81\n');
    await upload('member,tokens\n1,1\n');
    await upload('member,tokens\n1,1\n');
    await plan(id, { members });
    await upload('member,tokens\n1,1\n');
    expect((await plan(id, { members })).faultCount).toBe(0);
  });
});

describe('columns', () => {
  test('that mean something else by the time of another tab’s plan are not paid by what the first showed', async () => {
    const file = (row: string) => `First,Second,pts\n${row}\n`;
    await start(await upload(file('31301,31302,41')), { map: ['member=First', 'tokens=pts'] });
    const id = await upload(file('31301,31302,50'));
    const { shown, rows, payable } = await plan(id);
    await start(await upload(file('31301,31302,42')), { map: ['member=Second', 'tokens=pts'] });
    expect((await plan(id)).firstOrders).toEqual(['give 50 to 31302']);
    const reply = await post(`/api/uploads/${id}/start`, { rows, tokens: payable.tokens, shown });
    expect([reply.status, refused.parse(reply.json()).error.code]).toEqual([409, 'ALM_PLAN_CHANGED']);
  });

  test('a kept mapping that changes what a file means is paid only by a start that names the plan which showed it', async () => {
    const file = (row: string) => `member,tokens,Bill\n${row}\n`;
    await start(await upload(file('31401,5,b-1')), { map: ['reference=Bill'] });
    const id = await upload(file('31402,6,b-2'));
    const { shown, rows, payable } = await plan(id);
    const unseen = await post(`/api/uploads/${id}/start`, { rows, tokens: payable.tokens });
    expect([unseen.status, refused.parse(unseen.json()).error.code]).toEqual([422, 'ALM_PLAN_KEPT_COLUMNS']);
    const seen = await post(`/api/uploads/${id}/start`, { rows, tokens: payable.tokens, shown });
    expect(seen.status, seen.text).toBe(200);
    const said = await upload(file('31403,7,b-3'));
    await start(said, { map: ['reference=Bill'] });
  });

  test('a file of several directions is started by each of them, or by the plan that was shown', async () => {
    const id = await upload('member,tokens\n31501,8\n31502,-3\n');
    const begin = (tokens: unknown) => post(`/api/uploads/${id}/start`, { rows: 2, tokens });
    for (const wrong of ['11', { given: '11' }, { given: '3', taken: '8' }])
      expect(refused.parse((await begin(wrong)).json()).error.code).toBe('ALM_DESK_CHANGED');
    expect((await begin({ given: '8', taken: '3' })).status).toBe(200);
  });

  test('with blanks in their names are mapped, kept under their header, and forgotten', async () => {
    const file = (tokens: number) => `Who is it,My Points,op\n31201,${tokens},x\n`;
    const map = ['member=Who is it', 'tokens=My Points', 'op='];
    const first = await upload(file(5));
    expect((await plan(first)).columns?.found.map(({ meaning }) => meaning)).toEqual([null, null, 'op']);
    expect((await plan(first, { map })).firstOrders).toEqual(['give 5 to 31201']);
    await start(first, { map });
    const next = await upload(file(6));
    const kept = await plan(next);
    expect(kept).toMatchObject({
      faultCount: 1,
      columns: {
        kept: {
          who: 'olga',
          pairs: [
            { map: 'member=Who is it', effect: 'fills' },
            { map: 'tokens=My Points', effect: 'fills' },
            { map: 'op=', effect: 'refused' },
          ],
        },
      },
    });
    expect(kept.columns?.found.map(({ meaning }) => meaning)).toEqual(['member', 'tokens', 'op']);
    expect((await plan(next, { forgetColumns: true })).columns?.kept).toBeNull();
    expect((await plan(next)).faultCount).toBeGreaterThan(0);
  });
});
