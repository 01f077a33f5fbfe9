import type { RealmProfile } from '../../src/core/profile.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { Pace, type Slot } from '../../src/queue/pace.js';

/** Counts the steps that a process has under way. A step that waits at a gate does not count. */
export class Gate {
  private busy = 0;
  private waiter: (() => void) | undefined;
  /** The process is frozen: it takes no further step. */
  frozen = false;

  begin(): void {
    this.busy += 1;
  }

  end(): void {
    this.busy -= 1;
    if (this.busy === 0) this.stop();
  }

  async wait(until: (release: () => void) => void): Promise<void> {
    this.end();
    await new Promise<void>((resolve) => until(resolve));
    this.begin();
  }

  freeze(): void {
    this.frozen = true;
    this.stop();
  }

  private stop(): void {
    this.waiter?.();
    this.waiter = undefined;
  }

  async still(): Promise<void> {
    // A step that passed a gate begins within this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.busy > 0 && !this.frozen) await new Promise<void>((resolve) => (this.waiter = resolve));
  }
}

/** A pace that grants every slot, or holds an order between claim and begin until `goOn`. */
export class PausingPace extends Pace {
  pausing = false;
  private readonly paused: (() => void)[] = [];

  constructor(
    ledger: RealmLedger,
    profile: RealmProfile,
    private readonly gate: Gate,
  ) {
    super(ledger, profile);
  }

  override get limited(): boolean {
    return true;
  }

  override async take(wanted?: () => boolean): Promise<Slot | undefined> {
    if (this.pausing) await this.gate.wait((release) => this.paused.push(release));
    return wanted?.() === false ? undefined : { answered: () => {} };
  }

  goOn(): void {
    this.pausing = false;
    for (const release of this.paused.splice(0)) release();
  }
}
