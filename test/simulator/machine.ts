import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Here } from '../../src/ledger/here/liveness.js';
import { type Machine as Identity, readPlace } from '../../src/ledger/here/place.js';
import { type Clocks, MachineClocks, readClocksOf } from './clocks.js';

/** The distance between the numbers of a machine's two folders. */
const OTHER = 100;

/** A machine: its own data folder, its own clocks, and its own identity as the program sees it. */
export class Machine {
  readonly clocks: MachineClocks;
  identity: Identity;
  private known: ReturnType<typeof readPlace> | undefined;
  /** Lost with its disk. */
  lost = false;
  /** One of its journals cannot be read completely. */
  damaged = false;
  private names = 0;
  private other = 0;

  constructor(
    private readonly place: number,
    readonly folder: string,
    clocks: Clocks,
    /** The store lies in its data folder. */
    private readonly holdsStore: boolean,
  ) {
    this.clocks = new MachineClocks(clocks);
    // A machine cannot see another machine's disk. Its identity never changes, and reading it costs as much as a move.
    this.identity = {
      name: `machine-${place}`,
      boot: `boot-${place}`,
      space: `space-${place}`,
      placeAt: async (at) => {
        if (at !== folder) return undefined;
        const known = await this.known;
        if (known !== undefined && !this.lost) return known;
        this.known = readPlace(at);
        return this.known;
      },
    };
  }

  /** The number of the machine and of its mounted folder. */
  get number(): number {
    return this.place + OTHER * this.other;
  }

  /** Mounts another folder, which is empty at first. */
  swap(): void {
    const [here, away] = [`${this.folder}-${this.other}`, `${this.folder}-${1 - this.other}`];
    renameSync(this.folder, here);
    if (existsSync(away)) renameSync(away, this.folder);
    else mkdirSync(this.folder);
    this.other = 1 - this.other;
    this.known = undefined;
  }

  copyTo(folder: string): void {
    cpSync(this.folder, folder, { recursive: true, filter: (from) => !lstatSync(from).isSocket() });
  }

  /** Restores the content of the folder from a copy. `inPlace`: the file that identifies the folder stays too. */
  putBack(copy: string, inPlace: boolean): void {
    const isKept = (path: string) => inPlace && basename(path) === 'place.json';
    for (const name of readdirSync(this.folder))
      if (!isKept(name)) rmSync(join(this.folder, name), { recursive: true });
    cpSync(copy, this.folder, { recursive: true, filter: (from) => !isKept(from) });
    this.known = undefined;
  }

  /** The liveness check of other processes, as this machine runs it. */
  get here(): Here {
    return new Here(this.folder, Promise.resolve(this.identity), `${this.folder}-state`, this.holdsStore);
  }

  /** The same folder under another host name, as in a recreated container. */
  recreate(): void {
    this.names += 1;
    const space = `space-${this.place}-${this.names}`;
    this.identity = { ...this.identity, name: `machine-${this.place}-${this.names}`, space };
  }

  reboot(): void {
    this.names += 1;
    this.identity = { ...this.identity, boot: `boot-${this.place}-${this.names}` };
  }
}

/**
 * All machines run in one real process, so the real kernel would report every dead process as alive. A live process
 * always has its socket here; any process that the kernel is asked about counts as dead. Returns a function that stops
 * this.
 */
export function playDeaths(): () => void {
  const { kill } = process;
  process.kill = (pid, signal) => {
    if (pid === process.pid && signal === 0) throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
    return kill.call(process, pid, signal);
  };
  return () => {
    process.kill = kill;
  };
}

/** Runs `work` as a process of this machine, with its clocks. */
export async function on<T>(machine: Machine, work: () => Promise<T>): Promise<T> {
  readClocksOf(machine.clocks);
  return work();
}
