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
 * A copy of the whole store as it stands at one instant, while it is written to. Redis makes it for a replica that asks
 * SYNC: it forks, the child writes a snapshot of that instant, and the parent goes on. almoner reads the snapshot and
 * leaves before it would be sent anything else.
 *
 * BGSAVE would need the server's own disk and one file name that two backups would share. A dump of each key by itself
 * would hold keys of different instants.
 */
export type CopiedStore = { readonly bytes: number; readonly sha256: string };

export type Copying = {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, of: number) => void;
  /** While a snapshot is waited for that Redis is making for somebody else: of how many keys it holds how many. */
  readonly onWait: (keys: number, of: number) => void;
};

/** Redis says at least something every ten seconds while it prepares the snapshot. */
const SILENCE_MS = 60_000;
const LINE_BYTES_MAX = 4096;
const OTHER_SNAPSHOT_LIMIT_MS = 3_600_000;
const ASK_EVERY_MS = 100;

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
 * Redis answers a second SYNC with the snapshot that it is making for the first. That one may be of an instant before this
 * backup began, while the manifest says how far the store had come by then. One that begins during the wait is new enough.
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
    // A store that denies INFO denies SYNC as well, and says so there.
    const now = await persistence(client).catch(() => null);
    const waitedMs = performance.now() - begunMs;
    // Whole seconds, rounded down.
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

/** To the very server that the ledger's connection is with: with Sentinel that is the primary of now. */
function connected({ address, tls }: Target, { stream }: Redis): Socket {
  if (address.form === 'cluster') throw refused('a Redis Cluster has no one instant for all its nodes');
  const { host, port } =
    address.form === 'single' ? address.host : { host: stream.remoteAddress, port: stream.remotePort };
  if (host === undefined || port === undefined) throw refused('the store is not connected');
  const socket = tls === null ? connectPlain({ host, port }) : connectTls({ ...tls, host, port });
  return socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error('the store fell silent')));
}

/** The lines that a server answers before the snapshot, which end with its size. */
class Handshake {
  /** Of the snapshot; -1 until it is known. */
  size = -1;
  private head = Buffer.alloc(0);

  constructor(
    private signedIn: boolean,
    private readonly onSignedIn: () => void,
  ) {}

  /** Answers what of the piece belongs to the snapshot. */
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
    // An empty line says that the snapshot is still being made.
    if (line === '') return;
    if (line.startsWith('-')) throw refused(line.slice(1));
    if (!this.signedIn && line === '+OK') {
      this.signedIn = true;
      this.onSignedIn();
    } else if (/^\$[0-9]+$/.test(line)) this.size = Number(line.slice(1));
    else throw refused(`it answers ${JSON.stringify(line.slice(0, 80))}`);
  }
}

async function readSnapshot(
  socket: Socket,
  { address: { user, password } }: Target,
  file: string,
  { signal, onProgress }: Copying,
): Promise<CopiedStore> {
  const login = password === null ? [] : ['AUTH', ...(user === null ? [] : [user]), password];
  // One after the other: Redis refuses SYNC while an answer is on its way.
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
