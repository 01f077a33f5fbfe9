import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { Liveness } from '../../core/presence.js';
import { ensurePlace, type Machine, type Place, thisMachine } from '../here/place.js';

/**
 * Whether a sending process lives. Each listens on a unix socket in its data folder: connecting means alive,
 * also when the process is frozen (the kernel accepts for it). What a refusal proves depends on who is asked:
 *
 *   same boot       dead: one kernel knows all sockets of a folder, from every container. Which folder it is
 *                   is told by its device and inode; a living session keeps that device in use.
 *   another boot    dead, on a local file system whose place is still the session's: the kernel that ran it
 *                   has let go of the disk. A copy is another place, a network volume proves nothing.
 *   boot not told   dead, where both hold: the very folder, on a local file system.
 *
 * A socket whose file is gone says nothing on the same boot: a cleaner of old files may have removed it under
 * a process that lives. Then the kernel is asked for the process itself, where both see the same process
 * numbers. So that this stays the exception, a process that ends in order leaves its socket behind, to be
 * refused. Nothing here rests on a clock or on what a host is called.
 */
export const whereabouts = z.object({
  /** The host's name, for people. */
  machine: z.string(),
  boot: z.string(),
  socket: z.string(),
  /** Device and inode of the socket's folder: on one boot no other folder has both. */
  place: z.string(),
  /** The id of the data folder (see place.ts), which outlives a boot; empty where it has none. */
  placeId: z.string(),
  pid: z.number(),
  /** Whose process numbers `pid` is one of; containers have their own. */
  space: z.string().default(''),
  /** When the kernel started it, in ticks since boot: a number is given to another process later. */
  born: z.string().default(''),
});
type Whereabouts = z.infer<typeof whereabouts>;

export type OwnFolder = {
  readonly path: string;
  readonly number: string;
  /** The folder of its witness outside; null where there is none. */
  readonly witness: string | null;
  /** The identity that the store in it remembers; empty where the store is another one, or it cannot be told. */
  readonly storeId: string;
};

type LivenessSocket = { readonly server: Server; readonly at: Whereabouts };

/** The data folder and the machine of this process, and what can be told of other processes from there. */
export class Here {
  constructor(
    /** Null for an onlooker without one. */
    private readonly dataFolder: string | null,
    private readonly machine: Promise<Machine> = thisMachine(),
    /** The user's state folder, where the witnesses of data folders are; null where there is none. */
    readonly stateFolder: string | null = null,
    /** Whether the store lies in the data folder, so that a backup holds both. */
    readonly holdsStore = false,
  ) {}

  /** The path of the data folder, also where it has no identity yet; null for an onlooker. */
  get folder(): string | null {
    return this.dataFolder;
  }

  /** Null for an onlooker, and for a folder that has no identity yet. */
  async ownFolder(): Promise<OwnFolder | null> {
    const { dataFolder, stateFolder } = this;
    const place = dataFolder === null ? undefined : await (await this.machine).placeAt(dataFolder);
    if (dataFolder === null || place === undefined || place.number === '') return null;
    const { number, id, isLocal } = place;
    const witness = stateFolder === null ? null : join(stateFolder, number);
    // Some network file systems give a file another inode at every mount.
    return { path: dataFolder, number, witness, storeId: this.holdsStore && isLocal ? id : '' };
  }

  async liveness(entry: Whereabouts): Promise<Liveness> {
    const { boot, space, placeAt } = await this.machine;
    const folder = await this.folderOf(entry);
    const socket = folder === undefined ? entry.socket : join(folder, SOCKETS, basename(entry.socket));
    const sameFolder = (await inodeOf(dirname(socket))) === entry.place;
    if (boot !== '' && entry.boot === boot) {
      // A private /tmp, a container: the same path may be another folder, and proves nothing.
      const answer = sameFolder ? await ask(socket) : 'gone';
      if (answer !== 'gone') return answer === 'refused' ? 'dead' : 'alive';
      if (entry.born === '' || entry.space === '' || entry.space !== space) return 'elsewhere';
      return (await processLives(entry)) ? 'alive' : 'dead';
    }
    const place = await placeAt(dirname(dirname(socket)));
    if (place === undefined || place.id !== entry.placeId) return 'elsewhere';
    const answer = await ask(socket);
    if (answer === 'answers') return 'alive';
    const isAnotherBoot = boot !== '' && entry.boot !== '';
    return place.isLocal && (isAnotherBoot || (sameFolder && answer === 'refused')) ? 'dead' : 'elsewhere';
  }

  /** This process's own data folder, where it is the entry's: inside another container its path may differ. */
  async folderOf({ placeId }: Whereabouts): Promise<string | undefined> {
    if (this.dataFolder === null || placeId === '') return undefined;
    const own = await (await this.machine).placeAt(this.dataFolder);
    return own?.id === placeId ? this.dataFolder : undefined;
  }

  /** Undefined where no folder of that name is a data folder here. */
  async placeAt(dataFolder: string): Promise<Place | undefined> {
    return (await this.machine).placeAt(dataFolder);
  }

  /** Of a process that does not listen: whether it lives is asked of the kernel. Null for an onlooker. */
  async thisProcess(): Promise<Whereabouts | null> {
    return this.dataFolder === null ? null : this.processAt(this.dataFolder, 'none');
  }

  /** Of a session of which nothing can be read but its name: its socket in the folder tells whether it lives. */
  async whereaboutsIn(dataFolder: string, id: string): Promise<Whereabouts> {
    const folder = join(dataFolder, SOCKETS);
    const [place, found] = await Promise.all([inodeOf(folder), this.placeAt(dataFolder)]);
    const at = { socket: join(folder, `${id}${SOCKET}`), place, placeId: found?.id ?? '' };
    return { ...at, machine: '', boot: '', pid: 0, space: '', born: '' };
  }

  private async processAt(dataFolder: string, id: string): Promise<Whereabouts> {
    const folder = join(dataFolder, SOCKETS);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await ensurePlace(dataFolder);
    const { name: machine, boot, space, placeAt } = await this.machine;
    const born = (await processStat(process.pid))?.born ?? '';
    const placeId = (await placeAt(dataFolder))?.id ?? '';
    const at = {
      machine,
      boot,
      socket: join(folder, `${id}${SOCKET}`),
      place: await inodeOf(folder),
      placeId,
    };
    return { ...at, pid: process.pid, space, born };
  }

  async listen(dataFolder: string, id: string): Promise<LivenessSocket> {
    const at = await this.processAt(dataFolder, id);
    const folder = dirname(at.socket);
    const name = `${id}${SOCKET}`;
    const server = createServer((peer) => peer.destroy());
    // Renamed once it listens: closing a server removes the name it was bound to, and the file must stay.
    await byShortPath(folder, async (short) => {
      server.listen(join(short, `${name}.new`));
      await once(server, 'listening');
    });
    server.unref();
    await rename(join(folder, `${name}.new`), join(folder, name));
    return { server, at };
  }
}

/** Sockets of the dead whose journals are gone as well: nobody will ask for them any more. */
export async function removeSpentSockets(dataFolder: string, keep: ReadonlySet<string>): Promise<void> {
  const folder = join(dataFolder, SOCKETS);
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.endsWith(SOCKET) || keep.has(name.slice(0, -SOCKET.length))) continue;
    const path = join(folder, name);
    if ((await ask(path)) === 'refused') await unlink(path).catch(() => {});
  }
}

const SOCKETS = 'sessions';
const SOCKET = '.sock';

function ask(socket: string): Promise<'answers' | 'refused' | 'gone'> {
  return byShortPath(dirname(socket), async (folder) => {
    const peer = connect(join(folder, basename(socket)));
    try {
      await once(peer, 'connect');
      return 'answers';
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : '';
      // Anything else, such as a full backlog (EAGAIN), is a process that lives but does not accept.
      return code === 'ECONNREFUSED' ? 'refused' : code === 'ENOENT' ? 'gone' : 'answers';
    } finally {
      peer.destroy();
    }
  });
}

/** The kernel allows a socket's path some hundred bytes; a deep folder is reached through a link for the moment. */
async function byShortPath<T>(folder: string, use: (short: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(folder) <= 80) return use(folder);
  const own = await mkdtemp(join(tmpdir(), 'almoner-'));
  try {
    await symlink(folder, join(own, 's'));
    return await use(join(own, 's'));
  } finally {
    await rm(own, { recursive: true });
  }
}

/** Only what the kernel says outright counts as death; what may not be looked at may live. */
async function processLives({ pid, born }: Whereabouts): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
  }
  const found = await processStat(pid);
  return found === undefined || (found.born === born && !found.ended);
}

/** Undefined where it cannot be read: another system, or a /proc that hides other people's processes. */
async function processStat(pid: number): Promise<{ born: string; ended: boolean } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name in brackets may hold anything; the fields after it are counted from the last bracket.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', born = ''] = [fields[0], fields[19]];
  return born === '' ? undefined : { born, ended: state === 'Z' || state === 'X' };
}

async function inodeOf(folder: string): Promise<string> {
  try {
    const { dev, ino } = await stat(folder, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return 'gone';
  }
}
