import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import {
  FOLDERS_OF_FILES,
  type LeftProcess,
  list,
  listeningHere,
  processesOf,
  socketsHere,
} from '../../scripts/leftovers.mjs';
import { comeHome } from './program/almoner.js';
import { until } from './until.js';

/**
 * Isolates one test file; vitest runs this before each. The file starts in the project's folder with an empty temporary
 * folder. It fails if it leaves a process, a listening socket or a file behind. Test files share their process, so a
 * leftover would reach the next file.
 */
const folders = [process.env.ALMONER_TEST_MEMORY, process.env.ALMONER_TEST_DISK].map((parent) =>
  mkdtempSync(join(parent ?? '', 't')),
);
const [memory = '', disk = ''] = folders;
process.env.TMPDIR = memory;
process.env.ALMONER_TEST_FILE_DISK = disk;
const socketsBefore = socketsHere();

beforeAll(() => {
  // A process may write to a folder after its file has ended. The runner reads the file's name here.
  const line = `${folders.join('\t')}\t${expect.getState().testPath}\n`;
  appendFileSync(join(process.env.ALMONER_TEST_DISK ?? '', FOLDERS_OF_FILES), line);
  comeHome();
});

afterAll(async () => {
  // A killed process and a closed server may take a moment to disappear.
  const left = await until('the file to leave nothing behind', () => leftovers().length === 0, 5_000).then(
    () => [],
    leftovers,
  );
  if (left.length > 0) for (const { pid } of processesLeft()) process.kill(pid, 'SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  if (left.length > 0) throw new Error(`This test file left behind:\n${left.join('\n')}`);
}, 30_000);

function leftovers(): string[] {
  return [
    ...processesLeft().map(({ pid, name }) => `process ${pid}: ${name}`),
    ...listeningHere(socketsBefore),
    ...folders.flatMap((folder) => list(folder).map((name) => join(folder, name))),
  ];
}

function processesLeft(): LeftProcess[] {
  return processesOf(folders, process.pid);
}
