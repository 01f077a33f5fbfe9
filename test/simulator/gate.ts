import type { RealmProfile } from '../../src/core/profile.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { Pace, type Slot } from '../../src/queue/pace.js';

/** Counts what a process is doing right now; what waits at a gate is not being done. */
export class Gate {
  private busy = 0;
  private waiter: (() => void) | undefined;
  /** Whatever it was doing, it does no more. */
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
    // What was let through a gate begins in this turn.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.busy > 0 && !this.frozen) await new Promise<void>((resolve) => (this.waiter = resolve));
  }
}

/** A pace that lets everything pass, or stops it between claim and begin until it is told to go on. */
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
