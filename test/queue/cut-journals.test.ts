import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { listJournals } from '../../src/ledger/journal/folder.js';
import { fileName, Journal } from '../../src/ledger/journal/journal.js';
import { readSessionJournal } from '../../src/ledger/journal/reader.js';
import { journalHead } from '../support/ledger/journal-lines.js';
import { attemptOf } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { tempFolder } from '../support/temp-folder.js';

const bench = ledgersOnRedis();

test.each(['cut at a line', 'torn'])(
  'a file that is not the last and has lost its tail (%s) is not whole',
  async (how) => {
    const batch = await sealed(await bench.ledger(), [{}, {}, {}]);
    const folder = await tempFolder();
    const head = journalHead('0000000000aa');
    const journal = await Journal.open({
      folder,
      head,
      limits: { fileBytesMax: 1, folderBytesMax: 1e9 },
      onFailure: () => {},
    });
    for (const index of [1, 2]) await journal.intent(attemptOf(batch, index, null).intent);
    await journal.written();
    const path = fileName(folder, head.session, 1);
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    // The disk lost the intent and the line that announces the next file.
    const kept = `${lines.slice(0, -2).join('\n')}\n`;
    await writeFile(path, how === 'torn' ? `${kept}${lines.at(-2)?.slice(0, 20)}` : kept);
    const [files] = await listJournals(folder);
    const read = await readSessionJournal(files?.files ?? [], batch.ledger.keyPrefix);
    expect(read?.whole).toBe(false);
  },
);
