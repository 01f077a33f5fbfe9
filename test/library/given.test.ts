import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import {
  type Almoner,
  AlmonerError,
  type Input,
  type OpenOptions,
  open,
  PlanRefused,
} from '../../src/index.js';
import { endServerOf } from '../support/store-program.js';
import { listed, openLibrary, refusalOf } from './open-library.js';

/** What a program gives is read once, within the call, and refused before anything is done. */
let folder: string;
let almoner: Almoner;
const env = () => ({ HOME: folder, ALMONER_DATA: join(folder, 'data') });
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almoner-given-'));
  almoner = await openLibrary(env(), { cwd: folder });
});
afterAll(async () => {
  await almoner.close();
  await endServerOf(join(folder, 'data'));
  await rm(folder, { recursive: true, force: true });
});

const ANN = '119837460192837465';

describe('a call pays the rows as they were at the moment of the call', () => {
  test('whatever becomes of the list and its rows afterwards', async () => {
    const rows = [
      { member: ANN, tokens: 1, reference: 'kept-1' },
      { member: ANN, tokens: 2, reference: 'kept-2' },
    ];
    const paying = almoner.pay({ rows });
    for (const row of rows) row.tokens = 1000;
    rows.length = 1;
    const { batch, counts, tokens } = await paying;
    expect([counts, tokens]).toEqual([{ paid: 2 }, { paid: '3' }]);
    expect(await listed(almoner.results(batch))).toMatchObject([{ tokens: 1 }, { tokens: 2 }]);
  });
});

// As from a program without types.
const untyped = (value: unknown) => value as never;
let made = 0;
const some = () => ({ rows: [{ member: ANN, tokens: 1, reference: `some-${made++}` }] });

describe('misuse is refused by name, never thrown at once, and leaves the ledger unchanged', () => {
  test.each<[string, (books: Almoner) => Promise<unknown>, RegExp]>([
    ['pay()', (books) => books.pay(untyped(undefined)), /input: expected \{ file \}.*got undefined/],
    ['pay(null)', (books) => books.pay(untyped(null)), /input: .*got null/],
    ['a path for an input', (books) => books.pay(untyped('x.csv')), /input: .*got "x.csv"/],
    ['file and rows', (books) => books.pay(untyped({ ...some(), file: 'x' })), /\{ file \}.*or \{ rows \}/],
    ['a name that is none', (books) => books.pay(untyped({ ...some(), name: 5 })), /name: .*got 5/],
    ['a map that is none', (books) => books.pay(untyped({ file: 'x', map: 'y' })), /map: expected an object/],
    ['null options', (books) => books.pay(some(), untyped(null)), /options: expected an object, got null/],
    [
      'an unknown one',
      (books) => books.pay(some(), untyped({ dryRun: true })),
      /no "dryRun"; there are currency/,
    ],
    ['again', (books) => books.pay(some(), untyped({ again: 5 })), /again: expected a label.*got 5/],
    ['again, lines', (books) => books.pay(some(), { again: 'a\nb' }), /again: expected a label/],
    ['inOrder', (books) => books.pay(some(), untyped({ inOrder: 'yes' })), /inOrder: expected true or false/],
    ['inOrder of workers', (books) => books.enqueue(some(), untyped({ inOrder: 1 })), /inOrder/],
    ['newRowsOnly', (books) => books.pay(some(), untyped({ newRowsOnly: 'no' })), /newRowsOnly/],
    ['expectRows', (books) => books.pay(some(), untyped({ expectRows: '1' })), /expectRows: .*got "1"/],
    ['no expectRows', (books) => books.pay(some(), { expectRows: Number.NaN }), /expectRows: .*got NaN/],
    ['batchId', (books) => books.pay(some(), untyped({ batchId: null })), /batchId: .*got null/],
    [
      'a controller for its signal',
      (books) => books.pay(some(), untyped({ signal: new AbortController() })),
      /signal: expected an AbortSignal, got an object of class AbortController/,
    ],
    ['report', (books) => books.report('last', untyped(null)), /options: expected an object, got null/],
    ['out', (books) => books.report('last', untyped({ out: 5 })), /out: expected text, got 5/],
    ['pause', (books) => books.pause('last', untyped(null)), /options: expected an object, got null/],
    ['a reason', (books) => books.pause('last', untyped({ reason: 5 })), /reason: expected text, got 5/],
    ['cancel', (books) => books.cancel('last', untyped({ reason: {} })), /reason: expected text, got object/],
    ['no batch', (books) => books.resume(untyped(5)), /the id of a batch, got 5/],
    ['history', (books) => books.history('7', untyped(null)), /options: expected an object, got null/],
    ['since', (books) => books.history('7', untyped({ since: '2026-01-01' })), /since: expected a Date/],
    ['find by', (books) => listed(books.find('7', untyped({ by: 'line' }))), /by: expected one of batch,/],
    ['find nothing', (books) => listed(books.find(' ')), /expected a text of 1 to 200 characters/],
    ['no time', (books) => books.history('7', { since: new Date('x') }), /since: expected a Date/],
    ['doubts', (books) => books.resolveDoubts(untyped(undefined), untyped(undefined)), /orders: .*a list/],
    [
      'orders',
      (books) => books.resolveDoubts(untyped([5]), { paid: true, reason: 'x' }),
      /orders.0: .*got 5/,
    ],
    ['letters', (books) => listed(books.deadLetters(untyped(null))), /options: expected an object, got null/],
    ['a batch', (books) => listed(books.doubts(untyped({ batch: 5 }))), /batch: expected text, got 5/],
    [
      'options that throw',
      (books) =>
        books.pay(some(), {
          get again(): string {
            throw new Error('their bug');
          },
        }),
      /options: reading it has failed: their bug/,
    ],
  ])('%s', async (_, call, message) => {
    const before = await listed(almoner.batches());
    const refusal = await refusalOf(call(almoner));
    expect(refusal).toBeInstanceOf(AlmonerError);
    expect(refusal).toMatchObject({ code: 'ALM_LIBRARY_USAGE', message: expect.stringMatching(message) });
    expect(await listed(almoner.batches())).toEqual(before);
  });

  test('file and rows together do not compile', () => {
    expectTypeOf<{ rows: []; file: string }>().not.toExtend<Input>();
    expectTypeOf<{ rows: [] }>().toExtend<Input>();
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['cwd', { cwd: 5 }],
    ['operator', { operator: 5 }],
    ['env', { env: 5 }],
    ['logLevel', { logLevel: 'loud' }],
    ['log', { log: 'x' }],
  ])('opening with a wrong %s', async (_, options) => {
    const refusal = await refusalOf(open(options as OpenOptions));
    expect(refusal).toMatchObject({ code: 'ALM_LIBRARY_USAGE' });
  });
});

describe('messages of the operations use the names of the library', () => {
  test('options go by their names here, in errors and in findings', async () => {
    const refusal = await refusalOf(almoner.pay(some(), { expectRows: 2 }));
    expect(refusal).toBeInstanceOf(PlanRefused);
    expect(refusal).toMatchObject({
      code: 'ALM_PLAN_NOT_EXPECTED',
      message: expect.stringContaining('The input has 1 row, expectRows says 2.'),
    });
    const faulty = await refusalOf(almoner.pay({ rows: [{ member: 'x', tokens: 1 }] }));
    expect(faulty).toMatchObject({ next: expect.stringContaining('leave faulty rows out with skipInvalid') });
    const unmapped = await refusalOf(almoner.plan({ file: 'x.csv', map: { nothing: 'a' } }));
    expect(unmapped).toMatchObject({ code: 'ALM_FILE_NOT_FOUND' });
    await writeFile(join(folder, 'x.csv'), 'a,tokens\n1,1\n');
    expect(await refusalOf(almoner.plan({ file: 'x.csv', map: { nothing: 'a' } }))).toMatchObject({
      code: 'ALM_LIBRARY_USAGE',
      message: expect.stringMatching(/^map "nothing=a": expected MEANING/),
    });
  });

  test('an onProgress whose promise fails pauses the batch as one that throws', async () => {
    const broken = new Error('their bug');
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    // Where it stayed, a rejection in any later file of this process would pass unseen.
    onTestFinished(() => void process.off('unhandledRejection', note));
    const rows = Array.from({ length: 60 }, (_, at) => ({ member: ANN, tokens: 1, reference: `slow-${at}` }));
    const refusal = await refusalOf(almoner.pay({ rows }, { onProgress: () => Promise.reject(broken) }));
    expect(refusal).toMatchObject({ code: 'ALM_LIBRARY_USAGE', cause: broken });
    expect(unhandled).toEqual([]);
    expect(await almoner.pay({ rows })).toMatchObject({ counts: { paid: 60 } });
  });
});
