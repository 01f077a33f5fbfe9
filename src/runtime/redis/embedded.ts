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
 * A command's life with the embedded server: join (adopt or start it), keep (bring it back when it dies
 * while we work), leave (the last one shuts it down).
 */

const READY_LIMIT_MS = 3000;
const LEAVE_LIMIT_MS = 5000;
const KEEP_PAUSE_MS = 1000;
const ASK_EVERY_MS = 10;
/** A third of a second to read. */
const REWRITE_FROM_BYTES = 8 * 1024 * 1024;
const REWRITE_LIMIT_MS = 15_000;

type Joining = {
  readonly dataFolder: string;
  readonly token: string;
  readonly ledgerName: string;
  readonly logger: Logger;
  readonly limits: ReplyLimits;
};

/** The embedded server, and how a client reaches it. */
type Server = { readonly folder: StoreFolder; readonly target: Target; readonly logger: Logger };

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

/** Begins again when the server goes down between two steps, as it does when its last user just left. */
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
 * Starts the server again when it dies under a command that goes on, such as `serve`. The connections come
 * back by themselves. Whether the ledger may go on as well is for its fence to say, not for us.
 * Returns how to stop: it waits for a start under way, so that none outlives the command unnoticed.
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

/** See below for why nobody can slip in between the look and the shutdown. */
async function leave(server: Server, token: string): Promise<void> {
  const { folder, logger } = server;
  if ((await probePort(folder.port, folder.password)).kind !== 'ours') return;
  await shutDown(server, token, (client) =>
    // What cannot be written is no reason to stay.
    rewriteFile(client, folder).catch((error: unknown) =>
      logger.debug(`the store’s file stays as it is: ${messageOf(error)}`),
    ),
  );
}

/** For who has no connection: shuts the server down where no command uses it, and names those that do. */
export async function endIfAlone(folder: StoreFolder, token: string, logger: Logger): Promise<string[]> {
  const target = await targetOf(folder, {});
  return shutDown({ folder, target, logger }, token, () => Promise.resolve());
}

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
    // The answer to SHUTDOWN is a closed connection; a reply is a refusal, e.g. while the disk is full.
    if (refusal !== null && /^(ERR|NOPERM|BUSY|MISCONF)/.test(refusal))
      logger.warn(`the embedded Redis keeps running, the next command will use it: ${refusal}`);
    else await untilGone(folder);
  } catch (error) {
    // Cut off before the look: somebody came, or somebody else was faster in shutting it down.
    logger.debug(`left the embedded Redis to others: ${messageOf(error)}`);
  } finally {
    // A connection that the server has ended would be waited for by a timer of ioredis, and that by the process.
    if (client.status !== 'end') client.disconnect();
  }
  return [];
}

/**
 * Before the next command can ask anything, Redis reads its file: every command since the file was last written anew is
 * done again, which takes six times as long as reading what came of it. A newcomer cuts this off, and it goes on.
 */
async function rewriteFile(client: Redis, { path }: StoreFolder): Promise<void> {
  const tried = join(path, 'rewrite-tried');
  const { aof_current_size: all, aof_base_size: base } = await persistence(client);
  if (Number(all) - Number(base) < REWRITE_FROM_BYTES) return rm(tried, { force: true });
  // One that came to nothing, because the store is large or its disk full, is not tried at every leave.
  if (Number(all) < 1.5 * Number(await readFile(tried, 'utf8').catch(() => 0))) return;
  await writeFile(tried, `${all}`, { mode: 0o600 });
  // One that is under way already serves as well.
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
 * Waits until the server has ended, or turns out to be in use because a new command cut us off. The port
 * tells: it is given back after the last fsync. The pid does not: an orphan may stay a zombie for seconds.
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
 * Who uses the embedded server, told by the names of the connections, so that it needs neither a lock nor
 * a count that a killed command could leave wrong.
 *
 * Coming and going can cross: the last command sees nobody, a new one connects, and then the server ends
 * under it. Redis runs one command at a time, which is enough to exclude that:
 *   leaving:  1. name yourself `almoner-closing`   2. list the clients   3. nobody: SHUTDOWN
 *   coming:   1. name yourself `almoner`           2. list the clients   3. disconnect every closing one
 * Either the leaving one lists after the coming one was named, and lets the server live; or the coming one
 * sees it and cuts it off. A SHUTDOWN that was faster cuts the coming one, which begins again.
 */
const PRESENT = 'almoner:';
const CLOSING = 'almoner-closing:';

/** One per process and opening: tells its own connections from those of others. */
export function newPresenceToken(): string {
  return `${process.pid}-${randomBytes(4).toString('hex')}`;
}

/** Redis refuses blanks and line ends in names. */
export function presentName(clientName: string, token: string, use: string): string {
  const plain = (text: string) => text.replace(/[^A-Za-z0-9._-]/g, '_');
  return `${PRESENT}${plain(clientName)}:${token}:${plain(use)}`;
}

function closingName(token: string): string {
  return `${CLOSING}${token}`;
}

/** Cuts off whoever is about to shut the server down. It fails where that one was faster. */
async function stay(client: Redis): Promise<void> {
  for (const { id, name } of await listClients(client))
    if (name.startsWith(CLOSING)) await client.client('KILL', 'ID', id);
}

/** Asked by a connection that carries the closing name: the other commands, as `worker, pid 12`. */
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
