import { appendFile, readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { boundJournals } from '../../../src/ledger/journal/budget.js';
import { listJournals, noteMerged, noteRemoved, readRemoved } from '../../../src/ledger/journal/folder.js';
import { Journal } from '../../../src/ledger/journal/journal.js';
import { journalHead, journalIntent } from '../../support/ledger/journal-lines.js';
import { onDisk } from '../../support/on-disk.js';
import { tempFolder } from '../../support/temp-folder.js';

onDisk();

const REALM = 'almoner:{0123456789ab}';
const OWN = '00000000000a';
const OTHER = '00000000000b';
const NO_LIMIT = 1 << 30;

/** One file for each intent, plus the file being written. */
async function journalOf(folder: string, session: string, intents: number): Promise<Journal> {
  const journal = await Journal.open({
    folder,
    head: journalHead(session),
    limits: { fileBytesMax: 100, folderBytesMax: NO_LIMIT },
    onFailure: (error) => {
      throw error;
    },
  });
  await journal.works(REALM);
  for (let index = 1; index <= intents; index++) await journal.intent(journalIntent(index));
  await journal.written();
  return journal;
}

const numbers = async (folder: string, session: string) =>
  (await listJournals(folder)).find((one) => one.session === session)?.files.map(({ number }) => number) ??
  [];

function bound(folder: string, journal: Journal, isDead: readonly string[] = []) {
  return boundJournals({
    folder,
    session: OWN,
    journal,
    bytesMax: 0,
    eraOf: () => 'e1',
    isDead: (session) => Promise.resolve(isDead.includes(session)),
  });
}

describe('a session’s own journal files', () => {
  test('are kept while they hold an unsettled intent, even if the folder is full', async () => {
    const folder = await tempFolder();
    const journal = await journalOf(folder, OWN, 3);
    expect(await numbers(folder, OWN)).toEqual([1, 2, 3, 4]);
    expect(await bound(folder, journal)).toBe(0);
    // The first file has an open intent, so no later file is removed before it.
    journal.settled('nonce-2', REALM, 20);
    expect(await bound(folder, journal)).toBe(0);
    journal.settled('nonce-1', REALM, 10);
    expect(await bound(folder, journal)).toBe(2);
    expect(await numbers(folder, OWN)).toEqual([3, 4]);
    expect(await readRemoved(folder)).toEqual({ [REALM]: { e1: 20 } });
    journal.settled('nonce-3', REALM, 30);
    // The file holds nothing of this realm, so its removal loses nothing.
    await journal.works('almoner:{fedcba987654}');
    expect(await bound(folder, journal)).toBe(1);
    expect(await readRemoved(folder)).toEqual({ [REALM]: { e1: 30 } });
    // The file being written stays.
    expect(await numbers(folder, OWN)).toEqual([4]);
    await journal.close();
  });

  test('are kept while the epoch in which the ledger settled them is unknown', async () => {
    const folder = await tempFolder();
    const journal = await journalOf(folder, OWN, 2);
    for (const index of [1, 2]) journal.settled(`nonce-${index}`, REALM, 10 * index);
    expect(
      await boundJournals({
        folder,
        session: OWN,
        journal,
        bytesMax: 0,
        eraOf: () => undefined,
        isDead: () => Promise.resolve(false),
      }),
    ).toBe(0);
    expect(await bound(folder, journal)).toBe(2);
    await journal.close();
  });

  test('are not removed within the budget, and files that are not journals are left alone', async () => {
    const folder = await tempFolder();
    const journal = await journalOf(folder, OWN, 2);
    for (const index of [1, 2]) journal.settled(`nonce-${index}`, REALM, 10 * index);
    await appendFile(join(folder, 'unrelated.txt'), 'stays');
    const isDead = () => Promise.resolve(false);
    const budget = { folder, session: OWN, journal, bytesMax: NO_LIMIT, eraOf: () => 'e1', isDead };
    expect(await boundJournals(budget)).toBe(0);
    // Even an almost empty file counts for 32 kB, which bounds the number of files.
    expect(await boundJournals({ ...budget, bytesMax: 2 * 32 * 1024 })).toBe(1);
    expect(await readdir(folder)).toContain('unrelated.txt');
    await journal.close();
  });
});

describe('journal files of other sessions', () => {
  test('are kept while the session lives, and after its death until the ledger holds all of their attempts', async () => {
    const folder = await tempFolder();
    const other = await journalOf(folder, OTHER, 3);
    const journal = await journalOf(folder, OWN, 0);
    const before = await numbers(folder, OTHER);
    expect(await bound(folder, journal)).toBe(0);
    await other.close();
    expect(await bound(folder, journal, [OTHER])).toBe(0);
    expect(await numbers(folder, OTHER)).toEqual(before);
    await noteMerged(folder, OTHER, REALM, { era: 'e7', seq: 12, sent: true });
    await bound(folder, journal, [OTHER]);
    expect(await numbers(folder, OTHER)).toEqual([]);
    expect(await readRemoved(folder)).toMatchObject({ [REALM]: { e7: 12 } });
    // The note of the merge is removed with the session’s last file; otherwise notes would pile up.
    expect(await readdir(folder)).not.toContain(`${OTHER}.merged`);
    await journal.close();
  });

  test('are removed without a merge if the session began no order', async () => {
    const folder = await tempFolder();
    const other = await journalOf(folder, OTHER, 0);
    await other.leaves(REALM);
    await other.close();
    const journal = await journalOf(folder, OWN, 0);
    expect(await bound(folder, journal, [OTHER])).toBeGreaterThan(0);
    expect(await numbers(folder, OTHER)).toEqual([]);
    await journal.close();
  });

  test('are removed oldest first, and in order within a session', async () => {
    const folder = await tempFolder();
    const other = await journalOf(folder, OTHER, 2);
    await other.close();
    await noteMerged(folder, OTHER, REALM, { era: 'e7', seq: 12, sent: true });
    const journal = await journalOf(folder, OWN, 0);
    // After a clock was set back, the last file looks like the oldest.
    const last = (await numbers(folder, OTHER)).at(-1);
    await utimes(join(folder, `${OTHER}.${last}.journal`), 1, 1);
    const all = await numbers(folder, OTHER);
    const files = (await listJournals(folder)).flatMap((one) => one.files).length;
    const isDead = (session: string) => Promise.resolve(session === OTHER);
    const budget = { folder, session: OWN, journal, eraOf: () => 'e1', isDead };
    expect(await boundJournals({ ...budget, bytesMax: (files - 1) * 32 * 1024 })).toBe(1);
    expect(await numbers(folder, OTHER)).toEqual(all.slice(1));
    await journal.close();
  });
});

describe('the note of removed journal files', () => {
  const nobody = () => Promise.resolve(false);
  const of = (era: string, seq: number) => ({ [REALM]: { [era]: seq } });

  test('has one writer each; together the notes hold the highest sequence of every epoch', async () => {
    const folder = await tempFolder();
    await Promise.all([
      noteRemoved(folder, OWN, of('e1', 4), nobody),
      noteRemoved(folder, OTHER, of('e1', 9), nobody),
    ]);
    await noteRemoved(folder, OWN, of('e2', 3), nobody);
    expect((await readdir(folder)).sort()).toEqual([`${OWN}.floor`, `${OTHER}.floor`]);
    expect(await readRemoved(folder)).toEqual({ [REALM]: { e1: 9, e2: 3 } });
    expect((await stat(join(folder, `${OWN}.floor`))).mode & 0o777).toBe(0o600);
  });

  test('of a dead session is copied before it is removed', async () => {
    const folder = await tempFolder();
    await noteRemoved(folder, OTHER, of('e1', 9), nobody);
    await noteRemoved(folder, OWN, of('e2', 3), (session) => Promise.resolve(session === OTHER));
    expect(await readdir(folder)).toEqual([`${OWN}.floor`]);
    expect(await readRemoved(folder)).toEqual({ [REALM]: { e1: 9, e2: 3 } });
  });
});
