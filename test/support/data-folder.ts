import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { endServerOf } from './store-program.js';

/**
 * Creates data folders for the tests of one file. At its end it stops the processes in them and removes the folders.
 */
export function dataFolders(): () => Promise<string> {
  const folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) {
      await endServerOf(folder);
      await rm(folder, { recursive: true, force: true });
    }
  });
  return async () => {
    const folder = await mkdtemp(join(tmpdir(), 'almoner-data-'));
    folders.push(folder);
    return folder;
  };
}
