import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

/**
 * Simulated time, which passes only when the simulator says so. The realm keeps the one true time. The store's clock
 * and each machine's clocks may be stepped away from it, and a machine may sleep.
 */
const START_MS = Date.UTC(2026, 2, 1, 9, 0, 0);

export class Clocks {
  trueMs = START_MS;
  /** How far the store's clock is ahead. */
  storeStepMs = 0;

  get storeMs(): number {
    return this.trueMs + this.storeStepMs;
  }

  pass(ms: number): void {
    this.trueMs += ms;
  }
}

/** The clocks of one machine, as its processes read them. */
export class MachineClocks {
  wallStepMs = 0;
  /** How long the machine's monotonic clock stood still. */
  sleptMs = 0;

  constructor(private readonly clocks: Clocks) {}

  get wallMs(): number {
    return this.clocks.trueMs + this.wallStepMs;
  }

  get ownMs(): number {
    return this.clocks.trueMs - START_MS - this.sleptMs;
  }
}

let acting: MachineClocks | undefined;

/** Selects the machine that the program reads its clocks from. */
export function readClocksOf(machine: MachineClocks | undefined): void {
  acting = machine;
}

/**
 * Replaces this process's clocks by the simulated ones; pauses of the program take no time. Returns a function that
 * restores the real clocks.
 */
export function playClocks(): () => void {
  const dateNow = Date.now;
  const performanceNow = performance.now;
  const pause = timers.setTimeout;
  Date.now = () => acting?.wallMs ?? dateNow();
  performance.now = () => acting?.ownMs ?? performanceNow.call(performance);
  Object.assign(timers, { setTimeout: () => new Promise((resolve) => setImmediate(resolve)) });
  syncBuiltinESMExports();
  return () => {
    acting = undefined;
    Date.now = dateNow;
    performance.now = performanceNow;
    Object.assign(timers, { setTimeout: pause });
    syncBuiltinESMExports();
  };
}
