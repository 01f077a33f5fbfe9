import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

/**
 * Time that passes only when it is told to. There is one true time, which the realm keeps; the store's
 * clock and each machine's clocks may have been stepped away from it, and a machine may have slept.
 */
const START_MS = Date.UTC(2026, 2, 1, 9, 0, 0);

export class Clocks {
  trueMs = START_MS;
  /** By how much the store's clock is ahead. */
  storeStepMs = 0;

  get storeMs(): number {
    return this.trueMs + this.storeStepMs;
  }

  pass(ms: number): void {
    this.trueMs += ms;
  }
}

/** The clocks of one machine, as the processes on it read them. */
export class MachineClocks {
  wallStepMs = 0;
  /** How long its monotonic clock stood still. */
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

/** Whose clocks the program reads from here on. */
export function readClocksOf(machine: MachineClocks | undefined): void {
  acting = machine;
}

/**
 * Puts the played clocks in place of this process's own; pauses of the program take no time at all. Answers
 * how to take them away again.
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
