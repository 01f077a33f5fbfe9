import { type Fence, readFence } from '../read/fence.js';
import type { RealmLedger } from '../realm-ledger.js';

/** A recovery under way. Each caller that shares it enters the registry of every store that is found, to be waited for. */
type Shared = { readonly enters: Set<() => Promise<void>>; readonly opened: Promise<boolean> };

/**
 * What one process knows of a ledger that it has recovered: a store that was restored has forgotten payments which the
 * journals here know, and a file with their rows would pass. The first look of a process merges whatever lies here; later
 * ones where the store, or its era, is not the one of then: another machine may have opened it without us.
 */
export class Opening {
  private known: Pick<Fence, 'run' | 'era' | 'seq'> | null = null;
  private readonly underWay = new Map<number, Shared>();
  private readonly told = new Map<string, number>();

  /** The ledger is open as it stands here, with what the journals of this machine know. */
  opened({ run, era, seq }: Fence): void {
    this.known = { run, era, seq };
  }

  /**
   * Whether a trouble of recovery is logged: a command looks at the ledger several times, each time in a session of its
   * own, and one line for each finding is enough.
   */
  isNews(trouble: string): boolean {
    const now = performance.now();
    if (now - (this.told.get(trouble) ?? Number.NEGATIVE_INFINITY) < TOLD_AGAIN_MS) return false;
    if (this.told.size >= TOLD_MAX) this.told.clear();
    this.told.set(trouble, now);
    return true;
  }

  async isOpen(ledger: RealmLedger): Promise<boolean> {
    const { armed, run, era, seq } = await readFence(ledger);
    const { known } = this;
    return armed && known !== null && known.run === run && known.era === era && known.seq <= seq;
  }

  /**
   * Calls that overlap share one recovery: their sessions would keep each other from opening the ledger. `patienceMs` is how
   * long its scripts wait for the store; `enter` is done before every look.
   */
  async share(
    patienceMs: number,
    enter: () => Promise<void>,
    start: (before: () => Promise<void>) => Promise<boolean>,
  ): Promise<boolean> {
    const shared = this.underWay.get(patienceMs) ?? begin(start);
    this.underWay.set(patienceMs, shared);
    shared.enters.add(enter);
    try {
      const [opened] = await Promise.all([shared.opened, enter()]);
      return opened;
    } finally {
      shared.enters.delete(enter);
      if (this.underWay.get(patienceMs) === shared) this.underWay.delete(patienceMs);
    }
  }
}

/** A desk lives on, and says it again while it lasts. */
const TOLD_AGAIN_MS = 60_000;
const TOLD_MAX = 200;

function begin(start: (before: () => Promise<void>) => Promise<boolean>): Shared {
  const enters: Shared['enters'] = new Set();
  const before = async () => {
    for (const enter of enters) await enter();
  };
  return { enters, opened: start(before) };
}
