import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { AlmonerError } from '../../core/errors/error.js';
import { ScriptClient } from '../../ledger/index.js';
import { createClient, loadTarget, untilReady } from './connections.js';
import { persistence } from './embedded.js';
import { probePort } from './probe.js';
import { findServerBinary, quote, tailOf } from './server.js';

/**
 * A Redis server for this process alone, on a copied store: a backup to verify, or one to restore. It reads the copy
 * through a link and never writes it. It ends with this process, even if that is killed.
 */
export type PrivateStore = {
  readonly scripts: ScriptClient;
  /** From now on the folder holds the store as append-only files, fsynced at every write. */
  keepOnDisk(signal: AbortSignal): Promise<void>;
  end(): Promise<void>;
};

/** What to load, and where. */
export type Opening = {
  /** An empty folder for this process alone. */
  readonly folder: string;
  readonly copy: string;
  readonly db: number;
  /** Where the archives of its batches are. */
  readonly archives: string | null;
  readonly signal: AbortSignal;
};

const STARTS_MAX = 5;
const ASK_EVERY_MS = 25;
const READY_LIMIT_MS = 10_000;
const PATIENCE_MS = 10_000;
const COPY = 'store.rdb';

/**
 * The shell script that ends the server with this process. `read` returns when this process ends, because its end of
 * the pipe closes. The reader ends with the server, so it never kills a process that later gets the server's pid.
 *
 * Redis refuses SIGTERM while it writes its first append-only file. After two seconds the whole process group is
 * killed: the shell, the server and the child that writes the file. A complete store loses nothing, because every
 * write was fsynced.
 */
const GUARD = [
  'exec 3<&0',
  '"$1" "$2" </dev/null 3<&- & server=$!',
  '(read -r _ <&3; kill "$server"; sleep 2; kill -9 0) >/dev/null 2>&1 & reader=$!',
  'wait "$server"; code=$?',
  'kill "$reader" 2>/dev/null',
  'exit "$code"',
].join('\n');

/** Starts a server on a copied store. Throws if the installed Redis cannot load the copy. */
export async function openPrivateStore(opening: Opening): Promise<PrivateStore> {
  const { folder, copy, db, archives, signal } = opening;
  await symlink(resolve(copy), join(folder, COPY));
  const password = randomBytes(24).toString('base64url');
  const { child, port } = await started(folder, password, db, signal);
  const address = {
    form: 'single',
    host: { host: '127.0.0.1', port },
    db,
    user: null,
    password,
    tls: null,
  } as const;
  const client = createClient(await loadTarget(address), 'ledger', 'almoner-private');
  client.on('error', () => {});
  const end = async () => {
    client.disconnect();
    child.stdin?.end();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  try {
    await untilReady(client, READY_LIMIT_MS, 'the private Redis');
  } catch (error) {
    await end();
    throw error;
  }
  return {
    scripts: new ScriptClient(client, PATIENCE_MS, () => {}, { archiveFolder: archives }),
    keepOnDisk: (stop) => keepOnDisk(client, folder, stop),
    end,
  };
}

/** Starts the server on a free port. Another program may take the port between the check and the start. */
async function started(folder: string, password: string, db: number, signal: AbortSignal) {
  const binary = await findServerBinary();
  for (let start = 1; ; start++) {
    const port = await freePort();
    const settings = join(folder, 'private.conf');
    await writeFile(settings, config({ folder, port, password, db }), { mode: 0o600 });
    const logFile = join(folder, 'server.log');
    const log = await open(logFile, 'w', 0o600);
    const child = spawn('/bin/sh', ['-c', GUARD, 'sh', binary, settings], {
      cwd: folder,
      detached: true,
      stdio: ['pipe', log.fd, log.fd],
      env: { PATH: process.env.PATH ?? '' },
    });
    child.stdin?.on('error', () => {});
    await log.close();
    if (await isLoaded(child, port, password, signal)) return { child, port };
    const said = await tailOf(logFile, 0);
    if (start < STARTS_MAX && said.includes('Address already in use')) continue;
    throw new AlmonerError(
      'ALM_BACKUP_STORE_UNREADABLE',
      'The copied store cannot be loaded by the Redis that is installed here. Nothing was changed.',
      { details: said.split('\n') },
    );
  }
}

/** Waits while the server loads. False if it ended instead. */
async function isLoaded(
  child: ChildProcess,
  port: number,
  password: string,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    if (signal.aborted) {
      child.stdin?.end();
      await once(child, 'exit');
      signal.throwIfAborted();
    }
    if (child.exitCode !== null || child.signalCode !== null) return false;
    const probe = await probePort(port, password);
    if (probe.kind === 'ours' && !probe.loading) return true;
    await sleep(ASK_EVERY_MS);
  }
}

/** Turns the append-only file on and waits until it is complete. */
async function keepOnDisk(client: Redis, folder: string, signal: AbortSignal): Promise<void> {
  await client.config('SET', 'appendonly', 'yes');
  for (;;) {
    signal.throwIfAborted();
    const now = await persistence(client);
    const isWriting = now.aof_rewrite_in_progress !== '0';
    const isOk = now.aof_last_bgrewrite_status === 'ok';
    if (!isWriting && isOk && now.aof_rewrite_scheduled === '0' && now.aof_enabled === '1') return;
    // After a failure Redis schedules a retry, from the third one a minute later. On a full disk that never ends.
    if (!isWriting && !isOk)
      throw new AlmonerError(
        'ALM_BACKUP_FAILED',
        'The store could not be written to disk. Nothing was changed.',
        {
          details: (await tailOf(join(folder, 'server.log'), 0)).split('\n'),
        },
      );
    await sleep(ASK_EVERY_MS);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

type Settings = {
  readonly folder: string;
  readonly port: number;
  readonly password: string;
  readonly db: number;
};

/** The settings never write into the copy: there is no `save`, and the append-only file is off. */
function config({ folder, port, password, db }: Settings): string {
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    'protected-mode yes',
    `requirepass ${quote(password)}`,
    `dir ${quote(folder)}`,
    `dbfilename ${COPY}`,
    `databases ${Math.max(16, db + 1)}`,
    'daemonize no',
    'logfile ""',
    'save ""',
    'appendonly no',
    'appendfsync always',
    'maxmemory 0',
    'maxmemory-policy noeviction',
    '',
  ].join('\n');
}
