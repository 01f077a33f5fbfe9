import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Almoner, AlmonerError, type PayRow, PlanRefused } from '../../src/index.js';
import { endServerOf } from '../support/store-program.js';
import { listed, openLibrary, refusalOf } from './open-library.js';

/** A program with the library, on the embedded realm and a store of its own. */
let folder: string;
let almoner: Almoner;
const env = () => ({ HOME: folder, ALMONER_DATA: join(folder, 'data') });
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almoner-library-'));
  almoner = await openLibrary(env(), { cwd: folder, operator: 'bot' });
});
afterAll(async () => {
  await almoner.close();
  await endServerOf(join(folder, 'data'));
  await rm(folder, { recursive: true, force: true });
});

const ANN = '119837460192837465';
const BEN = '220938475610293847';
const row = (reference: string, more: Partial<PayRow> = {}): PayRow => ({
  member: ANN,
  tokens: 5,
  reference,
  ...more,
});

describe('planning', () => {
  test('tells rows, sums and every fault with its row and line, and throws nothing', async () => {
    const plan = await almoner.plan({
      rows: [
        row('p-1'),
        row('p-2', { tokens: -3n }),
        row('p-3', { member: '1.19E+17' }),
        row('p-1', { tokens: 6 }),
      ],
    });
    expect(plan).toMatchObject({
      ...{ rehearsal: true, rows: 4, existing: false, faultCount: 2 },
      orders: { credit: 1, debit: 1, transfer: 0 },
      tokens: { credit: '5', debit: '3', transfer: '0' },
      faults: [
        { row: 2, line: 4, column: 'member', code: 'ALM_ROW_ID_DIGITS_LOST' },
        { row: 3, line: 5, column: 'reference', code: 'ALM_ROW_REFERENCE_CONFLICT' },
      ],
    });
    expect(() => JSON.stringify(plan)).not.toThrow();
  });

  test('knows the same orders as the same batch, from a file and from memory', async () => {
    const file = join(folder, 'same.csv');
    await writeFile(file, `Punkte;MemberID;reference\n5;${ANN};s-1\n-3;${BEN};s-2\n`);
    const read = await almoner.plan({ file: 'same.csv', map: { tokens: 'Punkte' } });
    const given = await almoner.plan({ rows: [row('s-1'), row('s-2', { member: BEN, tokens: '-3' })] });
    expect(read.faults).toEqual([]);
    expect([given.batch, given.tokens]).toEqual([read.batch, read.tokens]);
    const paid = await almoner.pay({ file, map: { tokens: 'Punkte' } });
    expect(paid).toMatchObject({ batch: read.batch, state: 'done', counts: { paid: 2 } });
    const again = await almoner.pay({ rows: [row('s-1'), row('s-2', { member: BEN, tokens: '-3' })] });
    expect(again).toMatchObject({ batch: read.batch, existing: true, requests: paid.requests });
  });
});

describe('paying', () => {
  test('pays, tells how it stands, every row, the history of a member, and writes the report when asked', async () => {
    const seen: number[] = [];
    const rows = [
      row('a-1', { reason: 'thanks', columns: { handle: 'ann' } }),
      row('a-2', { tokens: 2, recipient: BEN }),
    ];
    const status = await almoner.pay(
      { rows, name: 'event 7' },
      {
        onProgress: ({ counts }) => seen.push(counts.paid ?? 0),
        expectRows: 2,
        expectTokens: { given: 5n, moved: '2' },
      },
    );
    expect(status).toMatchObject({
      ...{ state: 'done', existing: false, source: 'event 7', report: null, etaSeconds: 0, waiting: [] },
      ...{ counts: { paid: 2 }, tokens: { paid: '7' } },
    });
    expect(seen.at(-1)).toBe(2);
    expect(await listed(almoner.results(status.batch))).toMatchObject([
      {
        line: 2,
        order: `${status.batch}-1`,
        op: 'credit',
        tokens: 5,
        state: 'paid',
        reason: 'thanks',
        input: { handle: 'ann' },
      },
      {
        line: 3,
        op: 'transfer',
        recipient: BEN,
        state: 'paid',
        reference: 'a-2',
        sentAt: expect.stringMatching(/Z$/),
      },
    ]);
    const history = await almoner.history(BEN, { since: new Date(Date.now() - 3_600_000) });
    expect(history.at(-1)).toMatchObject({ order: `${status.batch}-2`, role: 'recipient', counterpart: ANN });
    expect(await listed(almoner.find('a-2'))).toMatchObject([
      { kind: 'order', by: ['reference'], order: `${status.batch}-2`, state: 'paid' },
    ]);
    expect(await listed(almoner.find('event 7', { by: 'file' }))).toMatchObject([
      { kind: 'batch', by: ['file'], batch: status.batch, state: 'done' },
    ]);
    expect((await listed(almoner.batches())).at(0)).toMatchObject({ batch: status.batch });
    expect(await listed(almoner.batches({ state: 'done', since: new Date(Date.now() + 60_000) }))).toEqual(
      [],
    );
    expect(existsSync(join(folder, 'reports'))).toBe(false);
    const report = await almoner.report(status.batch, { out: 'told' });
    expect(readdirSync(report.folder)).toContain('results.csv');
  });

  test('pays an event once, however often and with whatever other rows it comes', async () => {
    const first = await almoner.pay({ rows: [row('event-1')] });
    const again = await almoner.pay({ rows: [row('event-1')] });
    const among = await almoner.pay({ rows: [row('event-1'), row('event-2')] });
    expect([first.counts, again.existing, again.counts]).toEqual([{ paid: 1 }, true, { paid: 1 }]);
    expect(among.counts).toEqual({ paid: 1, duplicate: 1 });
    const other = await refusalOf(almoner.pay({ rows: [row('event-1', { tokens: 6 })] }));
    expect(other).toBeInstanceOf(PlanRefused);
  });

  test('refuses rows without a reference that were paid before, unless they are repeated on purpose', async () => {
    const rows = [{ member: ANN, tokens: 77 }];
    await almoner.pay({ rows });
    // The very same rows are the same batch; with another one they are another, and look paid.
    const more = [...rows, { member: ANN, tokens: 78 }];
    expect(await refusalOf(almoner.pay({ rows: more }))).toMatchObject({ code: 'ALM_PLAN_LOOKS_PAID' });
    expect(await almoner.pay({ rows: more }, { again: 'on purpose' })).toMatchObject({ counts: { paid: 2 } });
  });

  test('is refused as a whole where a row has a fault, with the faults, and nothing was sent', async () => {
    const before = await almoner.history(ANN);
    const refusal = await refusalOf(almoner.pay({ rows: [row('r-1'), row('r-2', { tokens: 0 })] }));
    expect(refusal).toBeInstanceOf(AlmonerError);
    expect(refusal).toMatchObject({
      code: 'ALM_PLAN_FAULTS',
      message: expect.stringContaining('Nothing was enqueued and nothing was sent'),
      details: [expect.stringMatching(/^row 1: /)],
      plan: { faults: [{ row: 1, code: 'ALM_ROW_TOKENS_ZERO' }] },
    });
    expect(await almoner.history(ANN)).toEqual(before);
    const some = await almoner.pay({ rows: [row('r-1'), row('r-2', { tokens: 0 })] }, { skipInvalid: true });
    expect(some.counts).toEqual({ paid: 1, invalid: 1 });
  });

  test('pays some and pauses; steering and the workers’ queue are the same as everywhere', async () => {
    const rows = [row('f-1'), row('f-2', { member: BEN })];
    const paused = await almoner.pay({ rows }, { first: 1 });
    expect(paused).toMatchObject({
      state: 'paused',
      counts: { paid: 1, planned: 1 },
      reason: { code: 'ALM_BATCH_FIRST' },
    });
    expect(await almoner.pay({ rows })).toMatchObject({ state: 'done', counts: { paid: 2 } });
    const waiting = await almoner.enqueue({ rows: [row('q-1')] }, { batchId: 'for-the-workers' });
    expect(waiting).toMatchObject({ batch: 'for-the-workers', state: 'planned' });
    expect(await almoner.pause('for-the', { reason: 'why' })).toMatchObject({
      changed: true,
      status: { state: 'paused' },
    });
    expect(await almoner.cancel('for-the-workers')).toMatchObject({
      changed: true,
      status: { state: 'cancelled' },
    });
    expect(await refusalOf(almoner.resume('for-the-workers'))).toMatchObject({ code: 'ALM_BATCH_CANNOT' });
  });
});

describe('misuse is refused by name, before anything is done', () => {
  // As from a program without types.
  const untyped = (value: unknown) => value as never;
  test.each<[string, (books: Almoner) => Promise<unknown>, string, RegExp]>([
    ['no input', (books) => books.plan(untyped({})), 'ALM_LIBRARY_USAGE', /\{ file \}/],
    ['rows that are none', (books) => books.pay(untyped({ rows: 'x' })), 'ALM_LIBRARY_USAGE', /list of rows/],
    [
      'a file that is not there',
      (books) => books.pay({ file: 'gone.csv' }),
      'ALM_FILE_NOT_FOUND',
      /gone\.csv/,
    ],
    [
      'both ways at once',
      (books) => books.pay({ rows: [] }, { again: 'a', newRowsOnly: true }),
      'ALM_LIBRARY_USAGE',
      /again/,
    ],
    [
      'a sum that is none',
      (books) => books.pay({ rows: [] }, { expectTokens: 1.5 }),
      'ALM_LIBRARY_USAGE',
      /expectTokens/,
    ],
    ['a bad name', (books) => books.pay({ rows: [] }, { batchId: 'No Way' }), 'ALM_LIBRARY_USAGE', /batchId/],
    ['none to pay first', (books) => books.pay({ rows: [] }, { first: 0 }), 'ALM_LIBRARY_USAGE', /first/],
    ['no rows', (books) => books.pay({ rows: [] }), 'ALM_FILE_NO_ROWS', /nothing to pay/],
    ['a number as a member', (books) => books.history(untyped(7)), 'ALM_LIBRARY_USAGE', /as a string/],
    ['no batch', (books) => books.status(untyped(7)), 'ALM_LIBRARY_USAGE', /id of a batch/],
    ['an unknown batch', (books) => books.status('nowhere'), 'ALM_BATCH_NOT_FOUND', /nowhere/],
    [
      'no reason',
      (books) => books.resolveDoubts([], { paid: true, reason: ' ' }),
      'ALM_LIBRARY_USAGE',
      /reason/,
    ],
    ['no verdict', (books) => books.resolveDoubts([], untyped({ reason: 'x' })), 'ALM_LIBRARY_USAGE', /paid/],
    [
      'no orders',
      (books) => books.resolveDoubts(untyped(''), { paid: true, reason: 'x' }),
      'ALM_LIBRARY_USAGE',
      /list/,
    ],
  ])('%s', async (_, call, code, message) => {
    const refusal = await refusalOf(call(almoner));
    expect(refusal).toBeInstanceOf(AlmonerError);
    expect(refusal).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test('a configuration with faults, and a realm that is not configured', async () => {
    const unknown = openLibrary({ ...env(), ALMONER_RATEE: '5/s' }, { cwd: folder });
    expect(await refusalOf(unknown)).toMatchObject({ code: 'ALM_CONFIG_INVALID' });
    const nowhere = openLibrary(env(), { cwd: folder, realm: 'nowhere' });
    expect(await refusalOf(nowhere)).toMatchObject({ code: 'ALM_CONFIG_REALM_UNKNOWN' });
  });

  test('a callback that throws pauses the batch, and pay says so', async () => {
    const broken = new Error('their bug');
    const throwing = () => {
      throw broken;
    };
    const refusal = await refusalOf(almoner.pay({ rows: [row('c-1')] }, { onProgress: throwing }));
    expect(refusal).toMatchObject({ code: 'ALM_LIBRARY_USAGE', cause: broken });
    expect(await almoner.pay({ rows: [row('c-1')] })).toMatchObject({ counts: { paid: 1 } });
  });
});
