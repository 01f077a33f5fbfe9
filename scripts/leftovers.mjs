// Finds and removes what tests left behind: processes, listening sockets, files. Linux only (it reads /proc); elsewhere
// it checks only files. The runner, vitest's global setup and each test file's set-up use it.
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The file of the run's folder on disk that says which test file had which folders. */
export const FOLDERS_OF_FILES = 'folders-of-files';

const MEMORY = '/dev/shm';
/** Containers often have a /dev/shm of 64 MB, which the tests' stores would fill. */
const MEMORY_FREE_MIN = 2 ** 30;

/**
 * Two folders for one run of tests: `memory` holds nearly everything (a Redis that fsyncs every write costs nothing
 * there), `disk` the files of tests about durability. Names are short because unix sockets lie below them, and a
 * socket's path has at most 107 characters.
 */
export function makeRunFolders() {
  const disk = mkdtempSync(join(tmpdir(), 'alm-'));
  const memory = hasRoom(MEMORY) ? mkdtempSync(join(MEMORY, 'alm-')) : mkdtempSync(join(tmpdir(), 'alm-'));
  return { memory, disk };
}

function hasRoom(folder) {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > MEMORY_FREE_MIN;
  } catch {
    return false;
  }
}

/**
 * Living processes that belong to a folder (by command line, environment or working folder) or descend from `parent`.
 * redis-server rewrites its command line and environment, but its working folder stays.
 */
export function processesOf(folders, parent) {
  const all = processTable();
  const children = new Set();
  for (let size = -1; parent !== undefined && size !== children.size; ) {
    size = children.size;
    for (const { pid, ppid } of all) if (ppid === parent || children.has(ppid)) children.add(pid);
  }
  return all
    .filter(({ pid, traces }) => {
      if (pid === process.pid) return false;
      return children.has(pid) || folders.some((folder) => traces().includes(folder));
    })
    .map(({ pid, name }) => ({ pid, name: name() }));
}

function processTable() {
  const found = [];
  for (const name of list('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    // "pid (command) state ppid …"; the command may hold blanks and parentheses.
    const [state, ppid] = read(`/proc/${pid}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ');
    if (ppid === undefined || state === 'Z' || state === 'X') continue;
    const at = `/proc/${pid}`;
    found.push({
      pid,
      ppid: Number(ppid),
      name: () => read(`${at}/cmdline`).replaceAll('\0', ' ').trim().slice(0, 160),
      traces: () => `${read(`${at}/cmdline`)}\0${read(`${at}/environ`)}\0${link(`${at}/cwd`)}`,
    });
  }
  return found;
}

/** Listening TCP ports and unix sockets of this process, except sockets that were `known` at an earlier call. */
export function listeningHere(known = new Set()) {
  const inodes = new Set([...socketsHere()].filter((inode) => !known.has(inode)));
  // The kernel's tables hold the sockets of all processes: thousands of lines in the middle of a test run.
  if (inodes.size === 0) return [];
  const found = [];
  for (const table of ['tcp', 'tcp6'])
    for (const line of read(`/proc/self/net/${table}`).split('\n').slice(1)) {
      const cells = line.trim().split(/\s+/);
      if (cells[3] === '0A' && inodes.has(cells[9]))
        found.push(`port ${Number.parseInt(cells[1].split(':')[1], 16)}`);
    }
  for (const line of read('/proc/self/net/unix').split('\n').slice(1)) {
    const cells = line.trim().split(/\s+/);
    // Flag 0x10000: the socket accepts connections.
    if (cells[3] === '00010000' && inodes.has(cells[6])) found.push(`socket ${cells[7]}`);
  }
  return found;
}

/** The inodes of this process's sockets. */
export function socketsHere() {
  const inodes = new Set();
  for (const fd of list('/proc/self/fd')) {
    const inode = /^socket:\[(\d+)\]$/.exec(link(`/proc/self/fd/${fd}`))?.[1];
    if (inode !== undefined) inodes.add(inode);
  }
  return inodes;
}

/** Names below a folder; empty when the folder is gone. */
export function list(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The names of all files and folders below a folder, at most some. */
function listDeep(folder) {
  try {
    return readdirSync(folder, { recursive: true }).slice(0, 20);
  } catch {
    return [];
  }
}

/** Kills every process that belongs to the folders, then removes them. Returns the processes and names it found. */
export function sweep(folders) {
  const processes = processesOf(folders);
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended meanwhile.
    }
  }
  const owners = folders
    .map((folder) => read(join(folder, FOLDERS_OF_FILES)))
    .join('')
    .split('\n')
    .map((line) => line.split('\t'));
  const names = folders.flatMap((folder) =>
    list(folder)
      .filter((name) => name !== FOLDERS_OF_FILES)
      .map((name) => join(folder, name))
      .map((path) => {
        const owner = owners.find((cells) => cells.includes(path))?.at(-1);
        return owner === undefined ? path : `${path} of ${owner}: ${listDeep(path).join(' ')}`;
      }),
  );
  for (const folder of folders)
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  return { processes, names };
}

/**
 * Calls `end` when npm, which started this process, is gone. npm ends with SIGTERM, and so does the shell between npm
 * and this process; neither passes the signal on.
 */
export function endWithNpm(end) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) end();
  }, PARENT_CHECKED_EVERY_MS).unref();
}

const PARENT_CHECKED_EVERY_MS = 500;

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function link(path) {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
