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
 * The bounds of one test file; vitest runs this before each. The file gets an empty temporary folder, begins in the
 * project's folder, and fails at its end if it left a process, a listening socket or a file. Test files share their
 * process, so the file after it would meet whatever it left.
 */
const folders = [process.env.ALMONER_TEST_MEMORY, process.env.ALMONER_TEST_DISK].map((parent) =>
  mkdtempSync(join(parent ?? '', 't')),
);
const [memory = '', disk = ''] = folders;
process.env.TMPDIR = memory;
process.env.ALMONER_TEST_FILE_DISK = disk;
const socketsBefore = socketsHere();

beforeAll(() => {
  // Something may come back to a folder after its file has ended. The runner finds the file's name here.
  const line = `${folders.join('\t')}\t${expect.getState().testPath}\n`;
  appendFileSync(join(process.env.ALMONER_TEST_DISK ?? '', FOLDERS_OF_FILES), line);
  comeHome();
});

afterAll(async () => {
  // A process that was killed and a server that was closed may need a moment to be gone.
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
