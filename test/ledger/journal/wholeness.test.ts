import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeEntry, type JournalEntry } from '../../../src/ledger/journal/line.js';
import { readSessionJournal } from '../../../src/ledger/journal/reader.js';
import { allRead, fileOpened, lineRead, lineTorn, UNREAD } from '../../../src/ledger/journal/wholeness.js';
import { journalHead, journalIntent } from '../../support/ledger/journal-lines.js';
import { generated } from '../../support/suites.js';
import { tempFolder } from '../../support/temp-folder.js';

const REALM = 'almoner:{0123456789ab}';
/** The reader decodes an unreadable line as undefined. */
type Line = JournalEntry | undefined;
type File = { readonly number: number; readonly lines: readonly Line[] };

const HEAD: Line = { kind: 'head', head: journalHead('00000000000a') };
const WORKS: Line = { kind: 'works', realm: REALM };
const INTENT: Line = { kind: 'intent', intent: journalIntent(1) };
const SPOILT: Line = undefined;
const continues = (number: number): Line => ({ kind: 'continues', number });

function stateOf(files: readonly File[]) {
  let state = UNREAD;
  for (const { number, lines } of files) {
    state = fileOpened(state, number);
    for (const line of lines) state = line === undefined ? lineTorn(state) : lineRead(state, line);
  }
  return allRead(state);
}

describe('each state of a journal', () => {
  const first = { number: 1, lines: [HEAD, WORKS, INTENT] };
  const announcing = { number: 1, lines: [HEAD, INTENT, continues(2)] };
  const torn = { number: 1, lines: [HEAD, INTENT, SPOILT, SPOILT] };

  test.each<[string, readonly File[], object]>([
    ['one file', [first], { link: 'in-order', tail: 'sound', fault: 'none' }],
    ['its end torn off', [torn], { tail: 'torn', fault: 'none' }],
    [
      'a line behind what was torn',
      [{ number: 1, lines: [...torn.lines, INTENT] }],
      { tail: 'sound', fault: 'damaged' },
    ],
    ['a file behind what was torn', [torn, { number: 2, lines: [HEAD] }], { fault: 'damaged' }],
    [
      'a file that was announced',
      [announcing, { number: 2, lines: [HEAD, INTENT] }],
      { link: 'in-order', fault: 'none' },
    ],
    [
      'one begun and not announced yet',
      [first, { number: 2, lines: [HEAD, WORKS] }],
      { link: 'unannounced', fault: 'none' },
    ],
    [
      'one used and never announced',
      [first, { number: 2, lines: [HEAD, INTENT] }],
      { link: 'unannounced', fault: 'missing' },
    ],
    ['the announced file gone', [announcing], { fault: 'missing' }],
    ['the first file gone', [{ number: 2, lines: [HEAD] }], { fault: 'missing' }],
    ['a file between gone', [announcing, { number: 3, lines: [HEAD] }], { fault: 'missing' }],
  ])('%s', (_, files, state) => {
    expect(stateOf(files)).toMatchObject(state);
  });

  test('a fault stays, whatever is read after it', () => {
    const damaged = { number: 1, lines: [HEAD, SPOILT, INTENT, continues(2)] };
    expect(stateOf([damaged, { number: 4, lines: [HEAD, INTENT] }]).fault).toBe('damaged');
  });
});

/** Answers the same question from all files at once instead of line by line. */
function isWhole(files: readonly File[]): boolean {
  const last = files.length - 1;
  const announcedBefore = (at: number) =>
    files
      .slice(0, at)
      .flatMap(({ lines }) => lines)
      .findLast((line) => line?.kind === 'continues');
  const reaches = (line: Line, number: number) => line?.kind === 'continues' && line.number >= number;
  const inRow = files.every(({ number }, at) => number === at + 1);
  const readable = files.every(({ lines }, at) => {
    const spoilt = lines.indexOf(undefined);
    return spoilt < 0 || (at === last && lines.slice(spoilt).every((line) => line === undefined));
  });
  const announced = files.every(({ number, lines }, at) => {
    const isBegun = lines.some((line) => line !== undefined && line.kind !== 'head' && line.kind !== 'works');
    return number === 1 || !isBegun || reaches(announcedBefore(at), number);
  });
  const complete = !reaches(announcedBefore(files.length), files.length + 1);
  return inRow && readable && announced && complete;
}

/** A session’s journal that is then damaged: lines corrupted or removed, files removed. */
const damagedJournal = fc
  .record({
    intents: fc.array(fc.nat(2), { minLength: 1, maxLength: 4 }),
    announces: fc.boolean(),
    damage: fc.array(
      fc.record({
        how: fc.constantFrom('spoil', 'take out', 'cut', 'remove file'),
        file: fc.nat(3),
        line: fc.nat(4),
      }),
      { maxLength: 2 },
    ),
  })
  .map(({ intents, announces, damage }) => {
    let files: File[] = intents.map((count, at) => ({
      number: at + 1,
      lines: [
        HEAD,
        WORKS,
        ...Array.from({ length: count }, () => INTENT),
        ...(at + 1 < intents.length || announces ? [continues(at + 2)] : []),
      ],
    }));
    for (const { how, file, line } of damage)
      if (how === 'remove file') files = files.filter((_, at) => at !== file);
      else
        files = files.map((one, at) => {
          if (at !== file) return one;
          const { lines } = one;
          if (how === 'spoil') return { ...one, lines: lines.map((l, i) => (i === line ? SPOILT : l)) };
          if (how === 'take out') return { ...one, lines: lines.filter((_, i) => i !== line) };
          return { ...one, lines: lines.slice(0, line) };
        });
    return files;
  });

test('a damaged journal counts as complete only if no line that was acted on can be missing', async () => {
  const folder = await tempFolder();
  const found = { whole: 0, not: 0 };
  await fc.assert(
    fc.asyncProperty(damagedJournal, async (files) => {
      const onDisk = await Promise.all(
        files.map(async ({ number, lines }) => {
          const path = join(folder, String(number));
          await writeFile(path, lines.map((line) => (line ? encodeEntry(line) : 'spoilt\n')).join(''));
          return { number, path, bytes: 0, writtenMs: 0 };
        }),
      );
      const read = await readSessionJournal(onDisk, REALM);
      const headed = files.some(({ lines }) => lines.some((line) => line?.kind === 'head'));
      expect(read?.whole).toBe(headed ? isWhole(files) : undefined);
      found[read?.whole ? 'whole' : 'not'] += 1;
    }),
    generated(300, 3_000),
  );
  // Both answers must occur often, so that neither holds by chance.
  expect(Math.min(found.whole, found.not)).toBeGreaterThan(30);
});
