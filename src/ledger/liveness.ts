import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, readlink, rename, stat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/**
 * Whether a sending process lives. Each listens on a unix socket beside its journal: connecting means alive,
 * also when the process is frozen (the kernel accepts for it); refused on the same boot of the same machine
 * means dead. Nothing here rests on a clock.
 *
 * A socket whose file is gone says nothing: a cleaner of old files may have removed it under a process that
 * lives. Then the kernel is asked for the process itself, where both see the same process numbers. So that
 * this stays the exception, a process that ends in order leaves its socket behind, to be refused.
 */
export const whereabouts = z.object({
  machine: z.string(),
  boot: z.string(),
  socket: z.string(),
  /** Which folder this is, whatever its name: another mount of the same name is another place. */
  place: z.string(),
  pid: z.number(),
  /** Whose process numbers `pid` is one of; containers have their own. */
  space: z.string().default(''),
  /** When the kernel started it, in ticks since boot: a number is given to another process later. */
  born: z.string().default(''),
});
export type Whereabouts = z.infer<typeof whereabouts>;

export type Liveness = 'alive' | 'dead' | 'elsewhere';

export type LivenessSocket = { readonly server: Server; readonly at: Whereabouts };

export async function listenAlive(dataFolder: string, id: string): Promise<LivenessSocket> {
  const folder = socketFolder(dataFolder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const socket = join(folder, `${id}${SOCKET}`);
  const server = createServer((peer) => peer.destroy());
  // Renamed once it listens: closing a server removes the name it was bound to, and the file must stay.
  server.listen(`${socket}.new`);
  await once(server, 'listening');
  server.unref();
  await rename(`${socket}.new`, socket);
  const { machine, boot, space } = await thisMachine();
  const born = (await processStat(process.pid))?.born ?? '';
  return {
    server,
    at: { machine, boot, socket, place: await placeOf(folder), pid: process.pid, space, born },
  };
}

export async function liveness(entry: Whereabouts): Promise<Liveness> {
  const here = await thisMachine();
  if (entry.machine !== here.machine) return 'elsewhere';
  if (entry.boot !== here.boot) return 'dead';
  // A private /tmp, a container: the same path may be another folder, and proves nothing.
  const samePlace = (await placeOf(dirname(entry.socket))) === entry.place;
  const answer = samePlace ? await ask(entry.socket) : 'gone';
  if (answer !== 'gone') return answer === 'refused' ? 'dead' : 'alive';
  if (entry.born === '' || entry.space === '' || entry.space !== here.space) return 'elsewhere';
  return (await processLives(entry)) ? 'alive' : 'dead';
}

/** Sockets of the dead whose journals are gone as well: nobody will ask for them any more. */
export async function removeSpentSockets(dataFolder: string, keep: ReadonlySet<string>): Promise<void> {
  const folder = socketFolder(dataFolder);
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.endsWith(SOCKET) || keep.has(name.slice(0, -SOCKET.length))) continue;
    const path = join(folder, name);
    if ((await ask(path)) === 'refused') await unlink(path).catch(() => {});
  }
}

const SOCKET = '.sock';

async function ask(socket: string): Promise<'answers' | 'refused' | 'gone'> {
  const peer = connect(socket);
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

type Machine = { readonly machine: string; readonly boot: string; readonly space: string };
let machine: Promise<Machine> | undefined;

export function thisMachine(): Promise<Machine> {
  machine ??= (async () => {
    const boot = (
      await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => 'unknown-boot')
    ).trim();
    const id = (await readFile('/etc/machine-id', 'utf8').catch(() => '')).trim();
    const namespace = (kind: string) => readlink(`/proc/self/ns/${kind}`).catch(() => '');
    const [numbers, time] = await Promise.all([namespace('pid'), namespace('time')]);
    // Containers often share or lack a machine id; the host name tells them apart.
    const name = createHash('sha256').update(`${id}\n${hostname()}`).digest('hex').slice(0, 16);
    return { machine: name, boot, space: numbers === '' ? '' : `${numbers} ${time}` };
  })();
  return machine;
}
