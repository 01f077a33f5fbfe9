import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, stat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { CATALOGUE } from '../core/errors/catalogue.js';
import type { Books } from './books.js';
import { openBatches } from './feeding.js';
import { disownBatch } from './steering.js';
import type { Reason } from './views.js';

/**
 * A sending process is a session. It is registered in the ledger before its first claim and listens on a
 * unix socket: connecting means alive, also when the process is frozen (the kernel accepts for it); refused
 * on the same boot of the same machine means dead. Nothing here rests on a clock.
 */
const sessionEntry = z.object({
  id: z.string(),
  machine: z.string(),
  boot: z.string(),
  socket: z.string(),
  /** Which folder this is, whatever its name: another mount of the same name is another place. */
  place: z.string(),
  pid: z.number(),
  kind: z.string(),
  startedAt: z.number(),
});
export type SessionEntry = z.infer<typeof sessionEntry>;

export type Liveness = 'alive' | 'dead' | 'elsewhere';

export class Session {
  private constructor(
    readonly entry: SessionEntry,
    private readonly server: Server,
  ) {}

  get id(): string {
    return this.entry.id;
  }

  static async open(kind: string, dataFolder: string): Promise<Session> {
    const id = randomBytes(6).toString('hex');
    const folder = socketFolder(dataFolder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const socket = join(folder, `${id}.sock`);
    const server = createServer((peer) => peer.destroy());
    server.listen(socket);
    await once(server, 'listening');
    server.unref();
    const entry = {
      id,
      ...(await thisMachine()),
      socket,
      place: await placeOf(folder),
      pid: process.pid,
      kind,
      startedAt: Date.now(),
    };
    return new Session(entry, server);
  }

  async register(books: Books): Promise<void> {
    const { redis } = books.caller;
    await books.caller.patiently('register session', () =>
      redis.hset(`${books.realm}:sessions`, this.id, JSON.stringify(this.entry)),
    );
  }

  async deregister(books: Books): Promise<void> {
    await forgetSession(books, this.id);
  }

  async close(): Promise<void> {
    this.server.close();
    await unlink(this.entry.socket).catch(() => {});
  }
}

export async function listSessions(books: Books): Promise<SessionEntry[]> {
  const { redis } = books.caller;
  const all = await books.caller.patiently('list sessions', () => redis.hvals(`${books.realm}:sessions`));
  return all.map((json) => sessionEntry.parse(JSON.parse(json)));
}

/** Of a session that is gone. Its batches lose their owner first: nobody else would let go of their members. */
export async function forgetSession(books: Books, id: string): Promise<void> {
  const { redis } = books.caller;
  for (const { no, owner } of await openBatches(books, 0))
    if (owner === id)
      await disownBatch(
        books,
        no,
        GONE,
        { at: Date.now(), who: 'almoner', what: 'run ended', why: null },
        id,
      );
  await books.caller.patiently('forget session', () => redis.hdel(`${books.realm}:sessions`, id));
}

const GONE: Reason = {
  code: 'ALM_BATCH_INTERRUPTED',
  message: 'The process that was working this run is gone. Nothing is being sent.',
  next: CATALOGUE.ALM_BATCH_INTERRUPTED.next,
};

export async function liveness(entry: SessionEntry): Promise<Liveness> {
  const here = await thisMachine();
  if (entry.machine !== here.machine) return 'elsewhere';
  if (entry.boot !== here.boot) return 'dead';
  // A private /tmp, a container: the same path may be another folder, and proves nothing.
  if ((await placeOf(dirname(entry.socket))) !== entry.place) return 'elsewhere';
  return (await answers(entry.socket)) ? 'alive' : 'dead';
}

async function answers(socket: string): Promise<boolean> {
  const peer = connect(socket);
  try {
    await once(peer, 'connect');
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    // A full backlog (EAGAIN) is a process that lives but does not accept; only these two prove death.
    return code !== 'ECONNREFUSED' && code !== 'ENOENT';
  } finally {
    peer.destroy();
  }
}

/** The kernel allows a socket's path some hundred bytes; a deep data folder gets a short stand-in. */
function socketFolder(dataFolder: string): string {
  const folder = join(dataFolder, 'sessions');
  if (Buffer.byteLength(folder) <= 80) return folder;
  return join(tmpdir(), `almoner-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`);
}

async function placeOf(folder: string): Promise<string> {
  try {
    const { dev, ino } = await stat(folder);
    return `${dev}:${ino}`;
  } catch {
    return 'gone';
  }
}

let machine: Promise<{ machine: string; boot: string }> | undefined;

function thisMachine(): Promise<{ machine: string; boot: string }> {
  machine ??= (async () => {
    const boot = (
      await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => 'unknown-boot')
    ).trim();
    const id = (await readFile('/etc/machine-id', 'utf8').catch(() => '')).trim();
    // Containers often share or lack a machine id; the host name tells them apart.
    return { machine: createHash('sha256').update(`${id}\n${hostname()}`).digest('hex').slice(0, 16), boot };
  })();
  return machine;
}
