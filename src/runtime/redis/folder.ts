import { createHash, randomBytes, randomInt } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { AlmonerError, hasCode, messageOf } from '../../core/errors/error.js';
import { recovery } from '../../ledger/index.js';

/** The embedded store's folder: `<data folder>/redis`, for its owner only. */
export type StoreFolder = {
  readonly path: string;
  readonly port: number;
  readonly password: string;
};

/** Below the ports that systems assign to outgoing connections, which would sometimes occupy ours. */
const PORT_MIN = 21_000;
const PORT_MAX = 31_999;
const PORT_TRIES_MAX = 50;
const LOG_BYTES_MAX = 1_000_000;

/**
 * Opens the folder and chooses port and password the first time. Both stay for the folder's life. The bound port is
 * the lock that keeps a second server from writing the same append-only file. Choosing another port automatically,
 * for example because another program holds it, would remove this lock.
 */
export async function openStoreFolder(dataFolder: string): Promise<StoreFolder> {
  const path = join(resolve(dataFolder), 'redis');
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await chmod(path, 0o700);
    const port = Number(await onceWritten(join(path, 'port'), async () => String(await choosePort())));
    const secret = await onceWritten(join(path, 'password'), async () =>
      randomBytes(32).toString('base64url'),
    );
    if (!Number.isInteger(port) || port < 1024 || port > 65_535 || !/^[\w-]{20,}$/.test(secret))
      throw new Error('the file `port` or `password` in it does not hold what almoner wrote');
    return { path, port, password: await passwordOf(resolve(dataFolder), secret) };
  } catch (error) {
    throw new AlmonerError(
      'ALM_STORE_FOLDER',
      `The embedded store cannot use the folder ${path} (${messageOf(error)}); nothing was started.`,
      { cause: error },
    );
  }
}

/**
 * Derives the password from the secret and the folder's identity. A copied folder has the port and secret of the
 * original, whose store may be running. With another identity the copy gets another password, so it cannot use that
 * store. Some network file systems give a folder no lasting identity.
 */
async function passwordOf(dataFolder: string, secret: string): Promise<string> {
  await recovery.folders.ensurePlace(dataFolder);
  const place = await recovery.folders.readPlace(dataFolder);
  if (place === undefined || !place.isLocal) return secret;
  return createHash('sha256').update(`${secret}\n${place.id}`).digest('base64url');
}

/** The port where commands expect the store now. A person may have removed the file meanwhile. */
export async function portNow({ path }: Pick<StoreFolder, 'path'>): Promise<number> {
  return Number(await readIfThere(join(path, 'port')));
}

/**
 * Reads a file, or creates it if it does not exist. Of several processes exactly one writes, and all read the same
 * content. The file appears complete: it is written under another name and then linked, which fails if the name
 * exists.
 */
async function onceWritten(file: string, make: () => Promise<string>): Promise<string> {
  const existing = await readIfThere(file);
  if (existing !== null) return existing;
  const aside = await writeAside(file, `${await make()}\n`);
  try {
    await link(aside, file);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(aside, { force: true });
  }
  return (await readFile(file, 'utf8')).trim();
}

/** Replaces a file atomically: other processes see the old or the new content, never a part. */
export async function replaceFile(file: string, content: string): Promise<void> {
  const aside = await writeAside(file, content);
  try {
    await rename(aside, file);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}

async function writeAside(file: string, content: string): Promise<string> {
  const aside = `${file}.${process.pid}-${randomBytes(4).toString('hex')}`;
  const handle = await open(aside, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  return aside;
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Chooses a random free port. */
async function choosePort(): Promise<number> {
  for (let tries = 0; tries < PORT_TRIES_MAX; tries += 1) {
    const port = randomInt(PORT_MIN, PORT_MAX + 1);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free loopback port found between ${PORT_MIN} and ${PORT_MAX}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Opens the server's log and keeps one older log beside it, so that years of short commands do not fill the disk. */
export async function openServerLog(path: string): Promise<{ file: string; startBytes: number }> {
  const file = join(path, 'server.log');
  const { size } = await stat(file).catch(() => ({ size: 0 }));
  if (size <= LOG_BYTES_MAX) return { file, startBytes: size };
  await rename(file, `${file}.old`).catch(() => {});
  return { file, startBytes: 0 };
}
