import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Here } from '../../src/ledger/here/liveness.js';
import { type Machine as Identity, readPlace } from '../../src/ledger/here/place.js';
import { type Clocks, MachineClocks, readClocksOf } from './clocks.js';

/** So far are the numbers of the two folders of a machine apart. */
const OTHER = 100;

/** A machine: a folder of its own, clocks of its own, and what the program is told of where it runs. */
export class Machine {
  readonly clocks: MachineClocks;
  identity: Identity;
  private known: ReturnType<typeof readPlace> | undefined;
  /** Gone with its disk. */
  lost = false;
  /** A journal of it cannot be read whole. */
  damaged = false;
  private names = 0;
  private other = 0;

  constructor(
    private readonly place: number,
    readonly folder: string,
    clocks: Clocks,
    /** The store lies in its folder. */
    private readonly holdsStore: boolean,
  ) {
    this.clocks = new MachineClocks(clocks);
    // Nobody sees the disk of another machine. Its place never changes, and asking for it costs as much as a move.
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

  /** Of the machine and the folder that is mounted. */
  get number(): number {
    return this.place + OTHER * this.other;
  }

  /** Another folder is there now, empty at first. */
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

  /** The folder stays, and what is in it is the copy's. `inPlace`: the file that tells which folder it is stays too. */
  putBack(copy: string, inPlace: boolean): void {
    const isKept = (path: string) => inPlace && basename(path) === 'place.json';
    for (const name of readdirSync(this.folder))
      if (!isKept(name)) rmSync(join(this.folder, name), { recursive: true });
    cpSync(copy, this.folder, { recursive: true, filter: (from) => !isKept(from) });
    this.known = undefined;
  }

  /** What can be told of other processes from here. */
  get here(): Here {
    return new Here(this.folder, Promise.resolve(this.identity), `${this.folder}-state`, this.holdsStore);
  }

  /** The same folder under another host name, as a container that is created anew has. */
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
 * All machines are played in one process of the real kernel, which says of each dead one that it lives. Who
 * lives here always has its socket; whoever the kernel is asked for is dead. Answers how to stop.
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

/** What is done in the meantime is done on this machine, with its clocks. */
export async function on<T>(machine: Machine, work: () => Promise<T>): Promise<T> {
  readClocksOf(machine.clocks);
  return work();
}
