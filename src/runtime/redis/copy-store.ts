import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { connect as connectPlain, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { Redis } from 'ioredis';
import { AlmonerError, messageOf } from '../../core/errors/error.js';
import type { Target } from './connections.js';
import { persistence } from './embedded.js';
import { command } from './probe.js';

/**
 * The result of a store copy: the whole store at one instant, taken while others write to it. Redis makes such a copy
 * for a replica that sends SYNC: it forks, the child writes a snapshot of that instant, and the parent continues.
 * almoner reads the snapshot and disconnects before Redis would send further commands.
 *
 * BGSAVE would need the server's own disk, and a file name that two backups would share. A dump per key would mix
 * different instants.
 */
export type CopiedStore = { readonly bytes: number; readonly sha256: string };

/** Options of a store copy. */
export type Copying = {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, of: number) => void;
  /** Called while Redis is still writing a snapshot for another client: how many keys of how many are written. */
  readonly onWait: (keys: number, of: number) => void;
};

/** While Redis prepares the snapshot, it sends at least something every ten seconds. */
const SILENCE_MS = 60_000;
const LINE_BYTES_MAX = 4096;
const OTHER_SNAPSHOT_LIMIT_MS = 3_600_000;
const ASK_EVERY_MS = 100;

/** Copies the whole store at one instant into a file that Redis can load. */
export async function copyStore(
  target: Target,
  client: Redis,
  file: string,
  copying: Copying,
): Promise<CopiedStore> {
  await untilNoOlderSnapshot(target, client, copying);
  const socket = connected(target, client);
  const stop = () => socket.destroy();
  copying.signal.addEventListener('abort', stop);
  try {
    return await readSnapshot(socket, target, file, copying);
  } catch (error) {
    copying.signal.throwIfAborted();
    throw error;
  } finally {
    copying.signal.removeEventListener('abort', stop);
    socket.destroy();
  }
}

/**
 * Waits until no older snapshot is being written. Redis answers a second SYNC with the snapshot that it is making for
 * the first. That one may be older than this backup, whose manifest says how far the store had come. A snapshot that
 * begins during the wait is new enough.
 */
async function untilNoOlderSnapshot(
  { address }: Target,
  client: Redis,
  { signal, onWait }: Copying,
): Promise<void> {
  if (address.form === 'cluster') return;
  const begunMs = performance.now();
  for (;;) {
    signal.throwIfAborted();
    // A store that denies INFO denies SYNC as well; the error then comes from SYNC.
    const now = await persistence(client).catch(() => null);
    const waitedMs = performance.now() - begunMs;
    // Redis rounds whole seconds down.
    const ageMs = (Number(now?.rdb_current_bgsave_time_sec ?? -1) + 1) * 1_000;
    if (now?.rdb_bgsave_in_progress !== '1' || ageMs < waitedMs) return;
    if (waitedMs > OTHER_SNAPSHOT_LIMIT_MS)
      throw new AlmonerError(
        'ALM_BACKUP_FAILED',
        'The store has been making another snapshot of itself for an hour. No backup was made.',
      );
    onWait(Number(now.current_save_keys_processed ?? 0), Number(now.current_save_keys_total ?? 0));
    await sleep(ASK_EVERY_MS);
  }
}

/** Opens a socket to the same server as the ledger's connection: with Sentinel, to the current primary. */
function connected({ address, tls }: Target, { stream }: Redis): Socket {
  if (address.form === 'cluster') throw refused('a Redis Cluster cannot copy all its nodes at one instant');
  const { host, port } =
    address.form === 'single' ? address.host : { host: stream.remoteAddress, port: stream.remotePort };
  if (host === undefined || port === undefined) throw refused('the store is not connected');
  const socket = tls === null ? connectPlain({ host, port }) : connectTls({ ...tls, host, port });
  return socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error('the store fell silent')));
}

/** Parses the lines that the server sends before the snapshot. The last one holds the snapshot's size. */
class Handshake {
  /** The size of the snapshot; -1 until it is known. */
  size = -1;
  private head = Buffer.alloc(0);

  constructor(
    private signedIn: boolean,
    private readonly onSignedIn: () => void,
  ) {}

  /** Returns the part of the data that belongs to the snapshot. */
  read(piece: Buffer): Buffer {
    let rest = piece;
    while (this.size < 0 && rest.length > 0) {
      const head = Buffer.concat([this.head, rest]);
      const end = head.indexOf('\n');
      if (end < 0 && head.length > LINE_BYTES_MAX) throw refused('it answers something else');
      this.head = end < 0 ? head : Buffer.alloc(0);
      rest = end < 0 ? Buffer.alloc(0) : head.subarray(end + 1);
      if (end >= 0) this.take(head.toString('latin1', 0, end).trim());
    }
    return rest;
  }

  private take(line: string): void {
    // An empty line means that the snapshot is still being made.
    if (line === '') return;
    if (line.startsWith('-')) throw refused(line.slice(1));
    if (!this.signedIn && line === '+OK') {
      this.signedIn = true;
      this.onSignedIn();
    } else if (/^\$[0-9]+$/.test(line)) this.size = Number(line.slice(1));
    else throw refused(`it answers ${JSON.stringify(line.slice(0, 80))}`);
  }
}

/** Logs in, sends SYNC and writes the snapshot to the file. */
async function readSnapshot(
  socket: Socket,
  { address: { user, password } }: Target,
  file: string,
  { signal, onProgress }: Copying,
): Promise<CopiedStore> {
  const login = password === null ? [] : ['AUTH', ...(user === null ? [] : [user]), password];
  // Send the commands one after the other: Redis refuses SYNC while a reply is outstanding.
  socket.write(login.length > 0 ? command(...login) : command('SYNC'));
  const output = await open(file, 'wx', 0o600);
  try {
    const digest = createHash('sha256');
    const handshake = new Handshake(login.length === 0, () => socket.write(command('SYNC')));
    let bytes = 0;
    for await (const piece of socket.iterator({ destroyOnReturn: false })) {
      signal.throwIfAborted();
      const rest = handshake.read(piece);
      const { size } = handshake;
      if (size < 0) continue;
      const part = rest.subarray(0, size - bytes);
      digest.update(part);
      await output.writeFile(part);
      bytes += part.length;
      onProgress(bytes, size);
      if (bytes === size) break;
    }
    if (bytes !== handshake.size)
      throw new AlmonerError(
        'ALM_BACKUP_FAILED',
        `The connection to the store ended after ${bytes} of ${Math.max(handshake.size, 0)} bytes of its copy. No backup was made.`,
      );
    await output.sync();
    return { bytes, sha256: digest.digest('hex') };
  } catch (error) {
    if (error instanceof AlmonerError || signal.aborted) throw error;
    throw new AlmonerError(
      'ALM_BACKUP_FAILED',
      `The store could not be copied (${messageOf(error)}). No backup was made.`,
      { cause: error },
    );
  } finally {
    await output.close();
  }
}

function refused(why: string): AlmonerError {
  return new AlmonerError(
    'ALM_BACKUP_STORE_REFUSED',
    `The store refuses to be copied: ${why}. No backup was made.`,
  );
}
