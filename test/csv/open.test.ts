import { appendFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlmonerError } from '../../src/core/errors/error.js';
import { openSource, type Source } from '../../src/csv/open.js';

let folder = '';
let spools = '';
const tmpdirBefore = process.env.TMPDIR;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almoner-open-'));
  spools = await mkdtemp(join(tmpdir(), 'almoner-spools-'));
  // Spools go where the system keeps temporary files; a folder of our own shows that none is left behind.
  process.env.TMPDIR = spools;
});

afterAll(async () => {
  if (tmpdirBefore === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = tmpdirBefore;
  await rm(folder, { recursive: true, force: true });
  await rm(spools, { recursive: true, force: true });
});

async function textOf(source: Source): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of source.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: unknown) => (isAlmonerError(error) ? error.code : String(error)),
  );
}

describe('a file', () => {
  it('can be read more than once', async () => {
    const file = join(folder, 'a.csv');
    await writeFile(file, 'x'.repeat(200_000));
    const source = await openSource(file);
    expect([source.name, source.bytes]).toEqual(['a.csv', 200_000]);
    expect(await textOf(source)).toHaveLength(200_000);
    expect(await textOf(source)).toHaveLength(200_000);
    await source.close();
  });

  it('that grows between two readings is refused', async () => {
    const file = join(folder, 'grows.csv');
    await writeFile(file, 'one');
    const source = await openSource(file);
    await appendFile(file, 'two');
    expect(await codeOf(textOf(source))).toBe('ALM_FILE_CHANGED');
    await source.close();
  });

  it('that is missing, a folder or too large is refused by name', async () => {
    expect(await codeOf(openSource(join(folder, 'none.csv')))).toBe('ALM_FILE_NOT_FOUND');
    expect(await codeOf(openSource(folder))).toBe('ALM_FILE_UNREADABLE');
    const file = join(folder, 'large.csv');
    await writeFile(file, '12345');
    expect(await codeOf(openSource(file, { limits: { fileBytesMax: 4 } }))).toBe('ALM_FILE_TOO_LARGE');
  });
});

describe('standard input', () => {
  it('is kept in a temporary file until it is closed', async () => {
    const source = await openSource('-', { stdin: Readable.from([Buffer.from('ab'), Buffer.from('cd')]) });
    expect(await readdir(spools)).toEqual([]);
    expect([await textOf(source), await textOf(source), source.name]).toEqual(['abcd', 'abcd', '-']);
    await source.close();
    expect(await readdir(spools)).toEqual([]);
  });

  it('beyond the limit is refused and leaves nothing behind', async () => {
    const stdin = Readable.from([Buffer.alloc(10), Buffer.alloc(10)]);
    expect(await codeOf(openSource('-', { stdin, limits: { fileBytesMax: 15 } }))).toBe('ALM_FILE_TOO_LARGE');
    expect(await readdir(spools)).toEqual([]);
  });
});
