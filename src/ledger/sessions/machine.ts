import { execFile } from 'node:child_process';
import { readFile, readlink, statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import { type Place, readPlace } from './place.js';

/** What is known of the machine, or container, that this process runs on. Handed in, so that tests have many. */
export type Machine = {
  /** The host's name, for people. Nothing is concluded from it: a container is given another each time. */
  readonly name: string;
  /** Which run of which kernel this is, the same in all its containers; empty where that cannot be told. */
  readonly boot: string;
  /** Whose process numbers are seen from here; empty where that cannot be told. */
  readonly space: string;
  readonly placeAt: (dataFolder: string) => Promise<Place | undefined>;
};

export async function thisMachine(): Promise<Machine> {
  const namespace = (kind: string) => readlink(`/proc/self/ns/${kind}`).catch(() => '');
  const [boot, numbers, time] = await Promise.all([
    kernelBoot().catch(() => ''),
    namespace('pid'),
    namespace('time'),
  ]);
  return { name: hostname(), boot, space: numbers === '' ? '' : `${numbers} ${time}`, placeAt: readPlace };
}

async function kernelBoot(): Promise<string> {
  if (process.platform === 'darwin')
    return (await promisify(execFile)('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'])).stdout.trim();
  const { type } = await statfs(BOOT_ID);
  // Some containers (LXC, nspawn) get a file of their own put over it: two that live would seem two boots.
  return type === PROC ? (await readFile(BOOT_ID, 'utf8')).trim() : '';
}

const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const PROC = 0x9fa0;
