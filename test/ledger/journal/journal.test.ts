import { open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AlmonerError } from '../../../src/core/errors/error.js';
import { listJournals, readHead } from '../../../src/ledger/journal/folder.js';
import { fileName, Journal, type JournalLimits } from '../../../src/ledger/journal/journal.js';
import { decodeEntry, encodeEntry, type Intent } from '../../../src/ledger/journal/line.js';
import { readSessionJournal } from '../../../src/ledger/journal/reader.js';
import { journalHead, journalIntent } from '../../support/ledger/journal-lines.js';
import { onDisk } from '../../support/on-disk.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';

onDisk();

const REALM = 'almoner:{0123456789ab}';
const SESSION = '00000000000a';

function intent(index: number, changes: Partial<Intent> = {}): Intent {
  const nonce = `nonce-${index}-${changes.attempts ?? 1}`;
  return { ...journalIntent(index), nonce, ...changes };
}

const result = (nonce: string, record: string) => ({
  nonce,
  record,
  dueInMs: 0,
  detail: '',
  requests: 1,
  limited: false,
});

async function openJournal(
  folder: string,
  limits: JournalLimits = { fileBytesMax: 1 << 20, folderBytesMax: 1 << 24 },
  onFailure: (error: AlmonerError) => void = (error) => {
    throw error;
  },
): Promise<Journal> {
  return Journal.open({ folder, head: journalHead(SESSION), limits, onFailure });
}

const read = async (folder: string) => {
  const files = (await listJournals(folder)).find(({ session }) => session === SESSION);
  return readSessionJournal(files?.files ?? [], REALM);
};

describe('reading a journal again returns', () => {
  test('an attempt with its result, one without, and none that was taken back before sending', async () => {
    const folder = await tempFolder();
    const journal = await openJournal(folder);
    await Promise.all([1, 2, 3].map((index) => journal.intent(intent(index))));
    journal.result(result('nonce-1-1', 'P|1|1|0|200|5|1|1|a|'));
    journal.unsent('nonce-3-1');
    await journal.close();
    const found = await read(folder);
    expect(found?.head).toEqual(journalHead(SESSION));
    expect(found?.seqSeen).toBe(3);
    expect(found?.ended).toBe(true);
    expect(found?.attempts.map(({ intent: { index }, result: r }) => [index, r?.record ?? null])).toEqual([
      [1, 'P|1|1|0|200|5|1|1|a|'],
      [2, null],
    ]);
  });

  test('the newest attempt of an order, whatever happened to older ones', async () => {
    const folder = await tempFolder();
    const journal = await openJournal(folder);
    await journal.intent(intent(1));
    journal.result(result('nonce-1-1', 'w|1|1|1||||||'));
    await journal.intent(intent(1, { attempts: 2 }));
    await journal.close();
    const [only, ...more] = (await read(folder))?.attempts ?? [];
    expect(more).toEqual([]);
    expect([only?.intent.attempts, only?.result]).toEqual([2, null]);
  });

  test.each([
    ['the same number', 2],
    ['a lower number', 1],
  ])('both attempts of an order after a rollback of the store gave the later one %s', async (_, attempts) => {
    const folder = await tempFolder();
    const journal = await openJournal(folder);
    await journal.intent(intent(1));
    await journal.intent(intent(1, { attempts: 2 }));
    journal.result(result('nonce-1-2', 'P|1|2|0|200|5|1|1|a|'));
    await journal.intent(intent(1, { attempts, nonce: 'after' }));
    journal.result(result('after', 'R|1|2|0|422|5|1|1|a|'));
    await journal.close();
    const told = (await read(folder))?.attempts.map(({ intent: { nonce }, result: r }) => [
      nonce,
      r?.record[0],
    ]);
    expect(told).toEqual([
      ['nonce-1-2', 'P'],
      ['after', 'R'],
    ]);
  });

  test('an intent waits for the fsync of its line and for the record of its position', async () => {
    const folder = await tempFolder();
    let noted = () => {};
    const position = new Promise<void>((resolve) => {
      noted = resolve;
    });
    const journal = await Journal.open({
      folder,
      head: journalHead(SESSION),
      limits: { fileBytesMax: 1 << 20, folderBytesMax: 1 << 24 },
      onFailure: () => {},
      onIntent: () => position,
    });
    const handle = await open(fileName(folder, SESSION, 1));
    let synced = () => {};
    const sync = vi.spyOn(Object.getPrototypeOf(handle), 'datasync').mockImplementation(
      () =>
        new Promise<void>((resolve) => {
          synced = resolve;
        }),
    );
    onTestFinished(() => sync.mockRestore());
    await handle.close();
    const steps: string[] = [];
    const intended = journal.intent(intent(1)).then(() => steps.push('may be sent'));
    await until('the line to be synced', () => sync.mock.calls.length > 0);
    await setImmediate();
    expect(await readFile(fileName(folder, SESSION, 1), 'utf8')).toContain('nonce-1-1');
    steps.push('synced');
    synced();
    await new Promise((resolve) => setTimeout(resolve, 50));
    steps.push('noted');
    noted();
    await intended;
    expect(steps).toEqual(['synced', 'noted', 'may be sent']);
    sync.mockRestore();
    await journal.close();
  });

  test('a tail torn at any byte keeps the lines before it, and the journal counts as complete', async () => {
    const folder = await tempFolder();
    const journal = await openJournal(folder);
    for (const index of [1, 2]) await journal.intent(intent(index));
    const path = fileName(folder, SESSION, 1);
    const whole = await readFile(path);
    await journal.close();
    const lastLine = whole.lastIndexOf(10, whole.length - 2) + 1;
    for (let length = whole.length - 1; length >= lastLine; length -= 7) {
      await truncate(path, length);
      const found = await read(folder);
      // A line without its line end may still be complete. It then counts, because it was fsynced.
      expect(found?.attempts.length).toBe(length === whole.length - 1 ? 2 : 1);
      expect(found?.whole).toBe(true);
    }
  });

  test('a journal with a damaged line in the middle is incomplete, and its other lines are read', async () => {
    const folder = await tempFolder();
    const journal = await openJournal(folder);
    for (const index of [1, 2, 3]) await journal.intent(intent(index));
    await journal.close();
    const path = fileName(folder, SESSION, 1);
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('"nonce-2-1"', '"nonce-2-9"'));
    const found = await read(folder);
    expect(found?.whole).toBe(false);
    expect(found?.attempts.map((one) => one.intent.index)).toEqual([1, 3]);
  });

  test('reading a journal returns only the requested realm', async () => {
    const folder = await tempFolder();
    const journal = await openJournal(folder);
    await journal.intent(intent(1, { realm: 'almoner:{other}' }));
    await journal.intent(intent(2));
    await journal.close();
    expect((await read(folder))?.attempts.map((one) => one.intent.index)).toEqual([2]);
  });

  test('a line survives encoding, and no single changed byte passes the checksum', () => {
    const line = encodeEntry({ kind: 'intent', intent: intent(7) });
    expect(decodeEntry(line.trimEnd())).toEqual({ kind: 'intent', intent: intent(7) });
    for (let i = 0; i < line.length - 1; i += 3) {
      const changed = `${line.slice(0, i)}${line[i] === 'x' ? 'y' : 'x'}${line.slice(i + 1)}`;
      expect(decodeEntry(changed.trimEnd())).toBeUndefined();
    }
  });
});

describe('writing', () => {
  test('an intent is in the file when its promise resolves', async () => {
    const folder = await tempFolder();
    const journal = await openJournal(folder);
    await journal.intent(intent(1));
    expect(await readFile(fileName(folder, SESSION, 1), 'utf8')).toContain('nonce-1-1');
    expect((await read(folder))?.ended).toBe(false);
    await journal.close();
  });

  test('a result needs no fsync of its own, and is written even if no intent follows', async () => {
    const folder = await tempFolder();
    const journal = await openJournal(folder);
    await journal.intent(intent(1));
    journal.result(result('nonce-1-1', 'P|1|1|0|200|5|1|1|a|'));
    await until('the result in the file', async () =>
      (await readFile(fileName(folder, SESSION, 1), 'utf8')).includes('P|1|1'),
    );
    await journal.close();
  });

  test('a failed write refuses every later intent and is reported once', async () => {
    const folder = await tempFolder();
    const failures: AlmonerError[] = [];
    const journal = await openJournal(folder, { fileBytesMax: 1, folderBytesMax: 1 << 20 }, (error) =>
      failures.push(error),
    );
    // The folder is removed before the next file begins.
    await rm(folder, { recursive: true });
    await journal.intent(intent(1)).catch(() => {});
    await until('the failure', () => failures.length > 0);
    await expect(journal.intent(intent(2))).rejects.toMatchObject({ code: 'ALM_LEDGER_JOURNAL_FAILED' });
    journal.result(result('nonce-1-1', 'P'));
    await journal.close();
    expect(failures.length).toBe(1);
  });

  test('a session’s realm is in its journal before the session is registered, and in every later file', async () => {
    const folder = await tempFolder();
    const journal = await openJournal(folder, { fileBytesMax: 300, folderBytesMax: 1 << 20 });
    await journal.works(REALM);
    expect((await read(folder))?.works).toBe(true);
    for (const index of [1, 2, 3]) await journal.intent(intent(index));
    await journal.close();
    const [files] = await listJournals(folder);
    expect((await readSessionJournal(files?.files.slice(-1) ?? [], REALM))?.works).toBe(true);
    expect((await readSessionJournal(files?.files ?? [], 'another realm'))?.works).toBe(false);
  });
});

describe('size', () => {
  test('files follow each other, and an attempt is found in all of them', async () => {
    const folder = await tempFolder();
    const journal = await openJournal(folder, { fileBytesMax: 400, folderBytesMax: 1 << 20 });
    for (let index = 1; index <= 10; index++) await journal.intent(intent(index));
    for (let index = 1; index <= 10; index++) journal.result(result(`nonce-${index}-1`, 'P|'));
    await journal.close();
    const [files] = await listJournals(folder);
    expect(files?.files.length).toBeGreaterThan(4);
    for (const file of files?.files ?? [])
      expect(await readHead({ session: SESSION, files: [file], bytes: 0 })).toEqual(journalHead(SESSION));
    const found = await read(folder);
    expect(found?.attempts.length).toBe(10);
    expect(found?.attempts.every((one) => one.result !== null)).toBe(true);
  });

  test('a journal is complete with all of its files, and incomplete without any one of them', async () => {
    const folder = await tempFolder();
    const journal = await openJournal(folder, { fileBytesMax: 400, folderBytesMax: 1 << 20 });
    for (let index = 1; index <= 10; index++) await journal.intent(intent(index));
    await journal.close();
    const [found] = await listJournals(folder);
    const files = found?.files ?? [];
    expect(files.length).toBeGreaterThan(3);
    const whole = async (left: typeof files) => (await readSessionJournal(left, REALM))?.whole;
    expect(await whole(files)).toBe(true);
    // The first, the last or any file between: each file records that another follows.
    for (const missing of files) expect(await whole(files.filter((file) => file !== missing))).toBe(false);
    // This includes files that were removed in order: the ledger that settled them may have been rolled back.
    expect(await whole(files.slice(2))).toBe(false);
  });

  test('a process that dies while it begins its next file leaves a complete journal', async () => {
    const folder = await tempFolder();
    const journal = await openJournal(folder);
    await journal.intent(intent(1));
    await journal.close();
    // The new file exists, but the line that announces it was not written yet.
    await writeFile(fileName(folder, SESSION, 2), encodeEntry({ kind: 'head', head: journalHead(SESSION) }));
    expect(await read(folder)).toMatchObject({ whole: true });
    await writeFile(fileName(folder, SESSION, 2), '');
    expect(await read(folder)).toMatchObject({ whole: true });
  });
});
