import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { isAlmonerError, messageOf } from '../../core/errors/error.js';
import {
  createClient,
  type Joined,
  loadTarget,
  logErrorsOf,
  type ReplyLimits,
  type Target,
  untilReady,
} from './connections.js';
import { openStoreFolder, type StoreFolder } from './folder.js';
import { probePort } from './probe.js';
import { ensureServer, pidFile, START_LIMIT_MS } from './server.js';

/**
 * Connects a command to the embedded server in three steps: join (use or start it), keep (restart it if it dies
 * meanwhile), leave (the last command shuts it down).
 */

const READY_LIMIT_MS = 3000;
const LEAVE_LIMIT_MS = 5000;
const KEEP_PAUSE_MS = 1000;
const ASK_EVERY_MS = 10;
/** Redis needs a third of a second to read this much. */
const REWRITE_FROM_BYTES = 8 * 1024 * 1024;
const REWRITE_LIMIT_MS = 15_000;

type Joining = {
  readonly dataFolder: string;
  readonly token: string;
  readonly ledgerName: string;
  readonly logger: Logger;
  readonly limits: ReplyLimits;
};

/** The embedded server and how a client reaches it. */
type Server = { readonly folder: StoreFolder; readonly target: Target; readonly logger: Logger };

/** Joins the embedded server of a data folder and keeps it running until `leave`. */
export async function joinEmbedded({
  dataFolder,
  token,
  ledgerName,
  logger,
  limits,
}: Joining): Promise<Joined> {
  const folder = await openStoreFolder(dataFolder);
  const target = await targetOf(folder, limits);
  const address = `the embedded Redis on 127.0.0.1:${folder.port} in ${folder.path}`;
  const server = { folder, target, logger };
  const ledger = await joinLedger(server, ledgerName, address);
  const stopKeeping = keepServer(folder, ledger, logger);
  return {
    address,
    target,
    ledger,
    beforeQuit: stopKeeping,
    leave: () => leave(server, token),
  };
}

function targetOf({ port, password }: StoreFolder, limits: ReplyLimits): Promise<Target> {
  const host = { host: '127.0.0.1', port };
  return loadTarget({ form: 'single', host, db: 0, user: null, password, tls: null }, limits);
}

/** Retries if the server ends between two steps, as it does when its last user has just left. */
async function joinLedger({ folder, target, logger }: Server, name: string, address: string): Promise<Redis> {
  const startedAt = performance.now();
  for (;;) {
    await ensureServer(folder, logger);
    const ledger = createClient(target, 'ledger', name);
    const ignore = () => {};
    ledger.on('error', ignore);
    try {
      await untilReady(ledger, READY_LIMIT_MS, address);
      await stay(ledger);
      ledger.off('error', ignore);
      logErrorsOf(ledger, 'ledger', logger);
      return ledger;
    } catch (error) {
      ledger.disconnect();
      const hopeless = isAlmonerError(error, 'ALM_STORE_DENIED');
      if (hopeless || performance.now() - startedAt > START_LIMIT_MS) throw error;
      logger.debug(`the embedded Redis went away while joining: ${messageOf(error)}`);
    }
  }
}

/**
 * Restarts the server if it dies during a long command such as `serve`. The connections recover by themselves. The
 * ledger's fence decides whether the ledger may continue. Returns a function that stops this; it waits for a start in
 * progress, so that no start outlives the command.
 */
function keepServer(folder: StoreFolder, ledger: Redis, logger: Logger): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  let keeping: Promise<void> | null = null;
  const bringBack = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await ensureServer(folder, logger, { signal });
        return;
      } catch (error) {
        if (signal.aborted) return;
        logger.error(`the embedded Redis cannot be started again: ${messageOf(error)}`);
        await sleep(KEEP_PAUSE_MS, undefined, { signal }).catch(() => {});
      }
    }
  };
  const onClose = () => {
    keeping ??= bringBack().finally(() => {
      keeping = null;
    });
  };
  ledger.on('close', onClose);
  return async () => {
    ledger.off('close', onClose);
    stopping.abort();
    await keeping;
  };
}

/**
 * Shuts the server down if no other command uses it. PRESENT below explains why no command can slip in between the
 * check and the shutdown.
 */
async function leave(server: Server, token: string): Promise<void> {
  const { folder, logger } = server;
  if ((await probePort(folder.port, folder.password)).kind !== 'ours') return;
  await shutDown(server, token, (client) =>
    // If the file cannot be rewritten, the command leaves all the same.
    rewriteFile(client, folder).catch((error: unknown) =>
      logger.debug(`the store’s file stays as it is: ${messageOf(error)}`),
    ),
  );
}

/**
 * For callers without a connection: shuts the server down if no command uses it, and otherwise names those commands.
 */
export async function endIfAlone(folder: StoreFolder, token: string, logger: Logger): Promise<string[]> {
  const target = await targetOf(folder, {});
  return shutDown({ folder, target, logger }, token, () => Promise.resolve());
}

/** Shuts the server down unless another command uses it. Returns the other commands. */
async function shutDown(
  { folder, target, logger }: Server,
  token: string,
  before: (client: Redis) => Promise<void>,
): Promise<string[]> {
  const client = createClient(target, 'ledger', closingName(token));
  client.on('error', () => {});
  client.options.retryStrategy = () => null;
  try {
    await untilReady(client, READY_LIMIT_MS, 'the embedded Redis');
    await client.client('SETNAME', closingName(token));
    const others = await othersPresent(client, token);
    if (others.length > 0) return others;
    await before(client);
    const refusal = await client.shutdown('NOSAVE').then(
      () => null,
      (error: unknown) => messageOf(error),
    );
    // Redis answers SHUTDOWN by closing the connection. A reply is a refusal, for example while the disk is full.
    if (refusal !== null && /^(ERR|NOPERM|BUSY|MISCONF)/.test(refusal))
      logger.warn(`the embedded Redis keeps running, the next command will use it: ${refusal}`);
    else await untilGone(folder);
  } catch (error) {
    // A new command disconnected us before the check, or another leaving command shut the server down first.
    logger.debug(`left the embedded Redis to another command: ${messageOf(error)}`);
  } finally {
    // An ended connection would keep a timer of ioredis, and that would keep the process alive.
    if (client.status !== 'end') client.disconnect();
  }
  return [];
}

/**
 * Rewrites the append-only file before the shutdown. At its next start, Redis executes every command since the last
 * rewrite, which takes six times as long as reading their result. A command that joins meanwhile cancels the
 * shutdown; the rewrite then continues.
 */
async function rewriteFile(client: Redis, { path }: StoreFolder): Promise<void> {
  const tried = join(path, 'rewrite-tried');
  const { aof_current_size: all, aof_base_size: base } = await persistence(client);
  if (Number(all) - Number(base) < REWRITE_FROM_BYTES) return rm(tried, { force: true });
  // Do not retry a failed rewrite (large store, full disk) at every leave: wait until the file has grown by half.
  if (Number(all) < 1.5 * Number(await readFile(tried, 'utf8').catch(() => 0))) return;
  await writeFile(tried, `${all}`, { mode: 0o600 });
  // A rewrite that is already running serves as well.
  await client.bgrewriteaof().catch(() => {});
  const until = performance.now() + REWRITE_LIMIT_MS;
  for (;;) {
    await sleep(ASK_EVERY_MS);
    const now = await persistence(client);
    const isOver = now.aof_rewrite_in_progress === '0' && now.aof_rewrite_scheduled === '0';
    if (isOver && now.aof_last_bgrewrite_status === 'ok') return rm(tried, { force: true });
    if (isOver || performance.now() > until) return;
  }
}

export async function persistence(client: Redis): Promise<Readonly<Record<string, string>>> {
  const lines = (await client.info('persistence')).split('\r\n');
  return Object.fromEntries(lines.flatMap((line) => [line.split(':')].filter((pair) => pair.length === 2)));
}

/**
 * Waits until the server has ended, or is in use because a new command disconnected us. The port shows it: the server
 * releases it after its last fsync. The pid does not, because an orphan may stay a zombie for seconds.
 */
async function untilGone(folder: StoreFolder): Promise<void> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < LEAVE_LIMIT_MS) {
    const { kind } = await probePort(folder.port, folder.password);
    if (kind === 'absent') await rm(pidFile(folder), { force: true });
    if (kind !== 'unclear') return;
    await sleep(ASK_EVERY_MS);
  }
}

/**
 * The names of connections show which commands use the embedded server. A lock or a counter would be wrong after a
 * command was killed.
 *
 * Joining and leaving can overlap: the last command sees no other, a new one connects, and then the server ends. Redis
 * runs one command at a time, which is enough to prevent that:
 *   leaving:  1. set the name `almoner-closing`   2. list the clients   3. if there is no other: SHUTDOWN
 *   joining:  1. set the name `almoner`           2. list the clients   3. disconnect every closing one
 * Either the leaving command lists after the joining one has its name, and keeps the server running. Or the joining
 * command sees the leaving one and disconnects it. If the SHUTDOWN was faster, the joining command retries.
 */
const PRESENT = 'almoner:';
const CLOSING = 'almoner-closing:';

/** One token per process and opening. It distinguishes own connections from others. */
export function newPresenceToken(): string {
  return `${process.pid}-${randomBytes(4).toString('hex')}`;
}

/** The connection name of a command that uses the store. Redis refuses blanks and line ends in names. */
export function presentName(clientName: string, token: string, use: string): string {
  const plain = (text: string) => text.replace(/[^A-Za-z0-9._-]/g, '_');
  return `${PRESENT}${plain(clientName)}:${token}:${plain(use)}`;
}

function closingName(token: string): string {
  return `${CLOSING}${token}`;
}

/** Disconnects commands that are about to shut the server down. Fails if one of them was faster. */
async function stay(client: Redis): Promise<void> {
  for (const { id, name } of await listClients(client))
    if (name.startsWith(CLOSING)) await client.client('KILL', 'ID', id);
}

/** The other commands, as `worker, pid 12`. The calling connection already has the closing name. */
async function othersPresent(client: Redis, token: string): Promise<string[]> {
  const names = (await listClients(client)).map(({ name }) => name);
  const others = names.filter((name) => name.startsWith(PRESENT) && !name.includes(`:${token}:`));
  return [
    ...new Set(
      others.map((name) => {
        const [, command = '', by = ''] = name.split(':');
        return `almoner ${command}, pid ${by.split('-')[0]}`;
      }),
    ),
  ];
}

async function listClients(client: Redis): Promise<{ id: string; name: string }[]> {
  const list = String(await client.client('LIST'));
  return list.split('\n').flatMap((line) => {
    const id = /^id=([0-9]+)/.exec(line)?.[1];
    const name = / name=(\S*)/.exec(line)?.[1];
    return id === undefined || name === undefined ? [] : [{ id, name }];
  });
}
