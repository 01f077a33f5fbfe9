import { Here } from '../../src/ledger/sessions/liveness.js';
import { type Machine as Identity, readPlace } from '../../src/ledger/sessions/place.js';
import { type Clocks, MachineClocks, readClocksOf } from './clocks.js';

/** A machine: a folder of its own, clocks of its own, and what the program is told of where it runs. */
export class Machine {
  readonly clocks: MachineClocks;
  identity: Identity;
  /** Gone with its disk. */
  lost = false;
  private names = 0;

  constructor(
    readonly number: number,
    readonly folder: string,
    clocks: Clocks,
  ) {
    this.clocks = new MachineClocks(clocks);
    // Nobody sees the disk of another machine. Its place never changes, and asking for it costs as much as a move.
    let place: ReturnType<typeof readPlace> | undefined;
    this.identity = {
      name: `machine-${number}`,
      boot: `boot-${number}`,
      space: `space-${number}`,
      placeAt: async (at) => {
        if (at !== folder) return undefined;
        const known = await place;
        if (known !== undefined && !this.lost) return known;
        place = readPlace(at);
        return place;
      },
    };
  }

  /** What can be told of other processes from here. */
  get here(): Here {
    return new Here(this.folder, Promise.resolve(this.identity));
  }

  /** The same folder under another host name, as a container that is created anew has. */
  recreate(): void {
    this.names += 1;
    const space = `space-${this.number}-${this.names}`;
    this.identity = { ...this.identity, name: `machine-${this.number}-${this.names}`, space };
  }

  reboot(): void {
    this.names += 1;
    this.identity = { ...this.identity, boot: `boot-${this.number}-${this.names}` };
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
