import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, open, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AlmonerError } from '../../core/errors/error.js';
import { openServerLog, replaceFile, type StoreFolder } from './folder.js';
import { lives, type Probe, probePort } from './probe.js';
import { refuseWhileRestoring } from './restore-notes.js';

/** How long a command retries while the store is starting or stopping. */
export const START_LIMIT_MS = 10_000;
/** A server that reads its append-only file answers meanwhile, so it gets more time. */
const LOADING_LIMIT_MS = 600_000;
const ASK_EVERY_MS = 25;
/** One failed start may be chance; two have a cause. */
const FAILED_STARTS_MAX = 2;
const LOG_LINES_SHOWN = 5;

/**
 * Makes sure that the folder's server runs: uses a running one, whoever started it, or starts one. Any number of
 * commands may do this at once, without a lock, which a kill -9 could leave behind. Several may start a server; all
 * but one end immediately, because a server binds the port before it opens the append-only file.
 */
export async function ensureServer(
  folder: StoreFolder,
  logger: Logger,
  options: {
    limitMs?: number;
    /** How long the port may be silent at each probe. */
    answerMs?: number;
    signal?: AbortSignal;
  } = {},
): Promise<void> {
  let attempt: StartAttempt | null = null;
  let failedStarts = 0;
  let limitMs = options.limitMs ?? START_LIMIT_MS;
  const startedAt = performance.now();
  for (;;) {
    options.signal?.throwIfAborted();
    await refuseWhileRestoring(folder);
    const probe = await probePort(folder.port, folder.password, options.answerMs);
    // The pid file names the server that answered. The one started here may have lost the race.
    if (probe.kind === 'ours' && !probe.loading) return replaceFile(pidFile(folder), `${probe.pid}\n`);
    if (probe.kind === 'foreign')
      throw probe.asksPassword ? otherStore(folder) : portTaken(folder, probe.seen);
    if (probe.kind === 'ours') limitMs = LOADING_LIMIT_MS;

    if (probe.kind === 'absent' && (attempt === null || attempt.ended())) {
      const failure = attempt === null ? null : await attempt.failure();
      if (failure !== null) failedStarts += 1;
      if (failure !== null && failedStarts >= FAILED_STARTS_MAX) throw startFailed(folder, failure);
      attempt = await startServer(folder);
      logger.debug({ port: folder.port }, 'starting the embedded Redis');
    }
    if (performance.now() - startedAt > limitMs) throw await noAnswer(folder, probe, limitMs);
    await sleep(ASK_EVERY_MS);
  }
}

export function pidFile(folder: StoreFolder): string {
  return join(folder.path, 'server.pid');
}

/** A server process that was just started. */
type StartAttempt = {
  ended(): boolean;
  /** Why the server ended. Null if it only found the port taken by another of our servers. */
  failure(): Promise<string | null>;
};

/** Starts the server as a process that outlives this command. */
async function startServer(folder: StoreFolder): Promise<StartAttempt> {
  const binary = await findServerBinary();
  const configFile = join(folder.path, 'redis.conf');
  await replaceFile(configFile, serverConfig(folder));
  const log = await openServerLog(folder.path);
  const output = await open(log.file, 'a', 0o600);
  let child: ChildProcess;
  let failedToRun: string | null = null;
  try {
    child = spawn(binary, [configFile], {
      cwd: folder.path,
      // A separate process group, so that neither Ctrl-C nor a closed terminal reaches the server.
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
      // The server outlives this command, so it must not inherit the environment, which may hold a realm's key.
      env: { PATH: process.env.PATH ?? '' },
    });
    child.on('error', (error) => {
      failedToRun = error.message;
    });
    child.unref();
  } finally {
    await output.close();
  }
  return {
    ended: () => failedToRun !== null || child.exitCode !== null || child.signalCode !== null,
    async failure() {
      const said = await tailOf(log.file, log.startBytes);
      if (failedToRun !== null) return failedToRun;
      if (child.exitCode === 0 || said.includes('Address already in use')) return null;
      return said === '' ? `it ended with ${child.exitCode ?? child.signalCode} and logged no reason` : said;
    },
  };
}

/** The last lines that the server has logged since then. */
export async function tailOf(file: string, startBytes: number): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const buffer = Buffer.alloc(64 * 1024);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, startBytes);
    const lines = buffer.toString('utf8', 0, bytesRead).trim().split('\n');
    return lines.slice(-LOG_LINES_SHOWN).join('\n');
  } finally {
    await handle.close();
  }
}

function portTaken(folder: StoreFolder, seen: string): AlmonerError {
  return new AlmonerError(
    'ALM_STORE_PORT_TAKEN',
    `Port ${folder.port} belongs to the embedded store in ${folder.path}, but another program holds it: ${seen}. Nothing was started, read or written.`,
  );
}

/** The error for a Redis with another password on our port, as for a copied data folder. */
function otherStore(folder: StoreFolder): AlmonerError {
  return new AlmonerError(
    'ALM_STORE_PORT_TAKEN',
    `A Redis with another password holds port ${folder.port} of the embedded store in ${folder.path}. If this data folder is a copy, that is the store of the original. Nothing was started, read or written.`,
    {
      next: 'If this data folder is a copy, remove the file `redis/port` in the copy so that a new port is chosen. Otherwise end that Redis first: it may write the files of this folder.',
    },
  );
}

function startFailed(folder: StoreFolder, said: string): AlmonerError {
  const damaged = /(redis|valkey)-check-aof|Bad file format/.test(said);
  return new AlmonerError(
    damaged ? 'ALM_STORE_DAMAGED' : 'ALM_STORE_START_FAILED',
    `The embedded Redis in ${folder.path} does not start; nothing was read or written.`,
    { details: said.split('\n') },
  );
}

/** The error for a server that does not become ready in time. */
async function noAnswer(folder: StoreFolder, probe: Probe, limitMs: number): Promise<AlmonerError> {
  const seconds = Math.round(limitMs / 1000);
  if (probe.kind !== 'unclear') return startFailed(folder, `it is not ready after ${seconds} s`);
  const seen = `${probe.seen}, for ${seconds} s`;
  const pid = Number(await readFile(pidFile(folder), 'utf8').catch(() => ''));
  if (!lives(pid)) return portTaken(folder, seen);
  return new AlmonerError(
    'ALM_STORE_UNREACHABLE',
    `The embedded Redis in ${folder.path} (pid ${pid}) runs but does not answer: ${seen}. Nothing was read or written.`,
    {
      next: `Find out what blocks process ${pid}: a disk that does not answer, or a stop (\`kill -CONT ${pid}\` continues it).`,
    },
  );
}

const NAMES = ['redis-server', 'valkey-server'];
/** Folders where packages install the server, although the PATH of an ordinary user or service may lack them. */
const USUAL_FOLDERS = [
  '/usr/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/opt/homebrew/bin',
  '/opt/homebrew/opt/redis/bin',
  '/usr/local/opt/redis/bin',
  '/home/linuxbrew/.linuxbrew/bin',
];

/** Finds redis-server or valkey-server in PATH and in the usual folders. */
export async function findServerBinary(
  path: string = process.env.PATH ?? '',
  usualFolders: readonly string[] = USUAL_FOLDERS,
): Promise<string> {
  const folders = [...path.split(delimiter).filter((folder) => folder !== ''), ...usualFolders];
  for (const name of NAMES)
    for (const folder of folders) {
      const file = join(folder, name);
      if (
        await access(file, constants.X_OK).then(
          () => true,
          () => false,
        )
      )
        return file;
    }
  throw new AlmonerError(
    'ALM_STORE_NO_SERVER',
    'REDIS_URL is not set, and neither redis-server nor valkey-server is installed for the embedded store; nothing was started.',
  );
}

/**
 * The embedded server's settings. They go through a file for its owner only, so that the password never appears in
 * argv. Stdin is not used: a starter killed half-way would leave a server without settings.
 */
function serverConfig(folder: StoreFolder): string {
  return [
    '# Written by almoner before every start; changes made here are lost.',
    'bind 127.0.0.1',
    `port ${folder.port}`,
    'protected-mode yes',
    `requirepass ${quote(folder.password)}`,
    `dir ${quote(folder.path)}`,
    'daemonize no',
    'logfile ""',
    'loglevel notice',
    '# A write is acknowledged only when it is on disk, also while the file is being rewritten.',
    'appendonly yes',
    'appendfsync always',
    'no-appendfsync-on-rewrite no',
    '# A torn tail is a write that was never acknowledged: cut it and start.',
    'aof-load-truncated yes',
    'save ""',
    'maxmemory 0',
    'maxmemory-policy noeviction',
    '',
  ].join('\n');
}

/** Redis reads double quotes with C-like escapes. A folder's name may hold any character. */
export function quote(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replace(/[\x00-\x1f]/g, (control) => {
    return `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${escaped}"`;
}
