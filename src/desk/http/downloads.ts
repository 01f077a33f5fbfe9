import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { AlmonerError } from '../../core/errors/error.js';
import type { BatchId } from '../../core/ids.js';
import type { FilesReply } from '../api/index.js';
import { Download } from './route.js';

/**
 * The report files of a batch. A download names one entry of the folder's own listing: what is not listed
 * does not exist, whatever dots and slashes the name holds, and links are not followed.
 */
const TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
};

export async function reportFiles(reportsFolder: string, batch: BatchId): Promise<FilesReply> {
  const folder = join(reportsFolder, batch);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const files = await Promise.all(
    entries
      .filter((entry) => entry.isFile() && TYPES[extname(entry.name)] !== undefined)
      .map(async ({ name }) => {
        const { size, mtime } = await lstat(join(folder, name));
        return { name, bytes: size, writtenAt: mtime.toISOString() };
      }),
  );
  return { files: files.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

export async function downloadReportFile(
  reportsFolder: string,
  batch: BatchId,
  wanted: string,
): Promise<Download> {
  const { files } = await reportFiles(reportsFolder, batch);
  const found = files.find(({ name }) => name === wanted);
  if (found === undefined)
    throw new AlmonerError('ALM_DESK_NOT_FOUND', 'The report has no such file.', {
      next: 'Write the report again, then choose a file from its list.',
    });
  const handle = await open(
    join(reportsFolder, batch, found.name),
    constants.O_RDONLY | constants.O_NOFOLLOW,
  );
  const type = TYPES[extname(found.name)] ?? 'application/octet-stream';
  return new Download(`${batch}-${found.name}`, type, handle.createReadStream());
}

/** Gathers what is written piece by piece: the answer begins only once it is whole, so errors stay errors. */
export async function written(
  work: (write: (text: string) => Promise<void>) => Promise<unknown>,
): Promise<string> {
  const pieces: string[] = [];
  await work(async (text) => {
    pieces.push(text);
  });
  return pieces.join('');
}
