import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readHead, readRemoved } from '../../src/ledger/journal/folder.js';
import { fileName, Journal } from '../../src/ledger/journal/journal.js';
import type { JournalResult } from '../../src/ledger/journal/line.js';
import { readSessionJournal, type SessionJournal } from '../../src/ledger/journal/reader.js';
import { journalHead, journalIntent } from '../support/ledger/journal-lines.js';
import { cases, generated } from '../support/suites.js';

/**
 * A real journal, damaged in every way: it is never read as something that was not written, what stands
 * before the damage is always read, and damage in the middle is said.
 */
const REALM = 'almoner:{0123456789ab}';
const SESSION = '00000000000a';
const HEAD = journalHead(SESSION);
const ORDERS = 6;
// Texts of a realm stand in results: line ends of every alphabet must not tear a line.
const resultOf = (index: number): JournalResult => ({
  nonce: `nonce-${index}`,
  record: `P|1|${index}`,
  dueInMs: 0,
  detail: `said “${index}”\r\n\u2028\u2029\u0085é\u0000`,
  requests: 1,
  limited: false,
});

let folder: string;
let whole: Buffer;
let damagedPath: string;
/** Where each line begins; the last entry is the end of the file. */
let starts: number[];
/** What is read of the lines before each start; the last entry is of the whole file. */
let before: (SessionJournal | undefined)[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almoner-journal-'));
  damagedPath = join(folder, 'damaged');
  const journal = await Journal.open({
    folder,
    head: HEAD,
    limits: { fileBytesMax: 1 << 20, folderBytesMax: 1 << 24 },
    onFailure: (error) => {
      throw error;
    },
  });
  await journal.works(REALM);
  for (let index = 1; index <= ORDERS; index += 1) {
    await journal.intent(journalIntent(index));
    if (index % 2 === 1) journal.result(resultOf(index));
  }
  await journal.close();
  whole = await readFile(fileName(folder, SESSION, 1));
  starts = [0, ...[...whole.keys()].filter((at) => whole[at] === 0x0a).map((at) => at + 1)];
  before = [];
  for (const start of starts) before.push(await read(whole.subarray(0, start)));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function read(bytes: Uint8Array): Promise<SessionJournal | undefined> {
  await writeFile(damagedPath, bytes);
  const files = [{ number: 1, path: damagedPath, bytes: bytes.length, writtenMs: 0 }];
  await readHead({ session: SESSION, files, bytes: bytes.length });
  return readSessionJournal(files, REALM);
}

/** Every attempt that is told was written, word by word. */
function nothingInvented(found: SessionJournal | undefined): void {
  if (found === undefined) return;
  expect(found.head).toEqual(HEAD);
  expect(found.seqSeen).toBeLessThanOrEqual(ORDERS);
  for (const { intent, result } of found.attempts) {
    expect(intent).toEqual(journalIntent(intent.index));
    if (result !== null) expect(result).toEqual(resultOf(intent.index));
  }
}

const told = (found: SessionJournal | undefined) =>
  found?.attempts.map(({ intent, result }) => `${intent.index}${result === null ? '?' : '!'}`);

describe('a damaged journal', () => {
  test('is read whole when it is whole', async () => {
    expect(told(await read(whole))).toEqual(['1!', '2?', '3!', '4?', '5!', '6?']);
    expect(await read(whole)).toMatchObject({ whole: true, works: true, seqSeen: ORDERS });
  });

  test('cut at any byte tells exactly the lines before the cut, and calls none of them damaged', async () => {
    expect(before.map((found) => told(found)?.length ?? null)).toEqual([
      null,
      0,
      0,
      1,
      1,
      2,
      3,
      3,
      4,
      5,
      5,
      6,
      6,
    ]);
    const every = cases(17, 1);
    const isNearStart = (length: number) => starts.some((start) => Math.abs(start - length) <= 2);
    for (let length = 0; length <= whole.length; length += 1) {
      if (length % every !== 0 && !isNearStart(length)) continue;
      const found = await read(whole.subarray(0, length));
      nothingInvented(found);
      // A line counts from its last character on, with or without its line end.
      const count = starts.findLastIndex((start, line) => length >= (line === 0 ? 0 : start - 1));
      expect([length, found]).toEqual([length, before[count]]);
      if (found !== undefined) expect(found.whole).toBe(true);
    }
  });

  test('with one bit turned tells all other lines; in the middle the damage is said', async () => {
    const places = fc.record({ at: fc.nat(), bit: fc.nat(7) });
    await fc.assert(
      fc.asyncProperty(places, async ({ at, bit }) => {
        const place = at % whole.length;
        const bytes = Buffer.from(whole);
        bytes[place] = (bytes[place] ?? 0) ^ (1 << bit);
        const found = await read(bytes);
        nothingInvented(found);
        const line = starts.findLastIndex((start) => start <= place);
        // Without its head nobody can say whose journal it is, and it counts as missing.
        if (line === 0) return;
        const same = told(found)?.join() === told(before.at(-1))?.join() && found?.works === true;
        const tail = line >= starts.length - 3;
        if (!same && !tail) expect([place, bit, found?.whole]).toEqual([place, bit, false]);
        for (const { intent } of before[line]?.attempts ?? [])
          expect(found?.attempts.map((each) => each.intent.index)).toContain(intent.index);
      }),
      generated(100, 600),
    );
  });

  test('with bytes put in, taken out, doubled or replaced invents nothing', async () => {
    const change = fc.record({
      at: fc.nat(),
      cut: fc.nat(200),
      put: fc.oneof(fc.uint8Array({ maxLength: 80 }), fc.constant(new Uint8Array(70_000))),
      again: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        let bytes = Buffer.from(whole);
        for (const { at, cut, put, again } of changes) {
          const place = at % (bytes.length + 1);
          const middle = again ? Buffer.from(bytes.subarray(place, place + cut)) : Buffer.from(put);
          bytes = Buffer.concat([
            bytes.subarray(0, place),
            middle,
            bytes.subarray(again ? place : place + cut),
          ]);
        }
        nothingInvented(await read(bytes));
      }),
      generated(60, 300),
    );
  });

  test('any bytes at all are no journal', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), async (bytes) => {
        expect(await read(bytes)).toBeUndefined();
      }),
      generated(40, 200),
    );
    expect(await read(Buffer.alloc(8 << 20, 0x61))).toBeUndefined();
  });
});

test.each([`${SESSION}.floor`])(
  'a damaged note of removed journals (%s) stops the sender in plain words, and is never taken for none',
  async (name) => {
    const path = join(folder, name);
    expect(await readRemoved(folder)).toEqual({});
    for (const text of ['', '{', '[]', 'null', '{"a":"b"}', '{"__proto__":{"polluted":1}', '\u0000']) {
      await writeFile(path, text);
      await expect(readRemoved(folder), text).rejects.toMatchObject({ code: 'ALM_LEDGER_FLOOR_DAMAGED' });
    }
    await rm(path);
  },
);
