import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** Reproducible randomness: the same seed gives the same history with the same ids. */
export class Dice {
  private state: number;

  constructor(seed: number) {
    // Consecutive seeds must not give similar histories.
    this.state = (Math.imul(seed ^ (seed >>> 16), 0x45d9f3b) + 0x9e3779b9) | 0;
    for (let i = 0; i < 4; i++) this.next();
  }

  /** A number from 0 (included) to 1 (excluded). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  chance(p: number): boolean {
    return this.next() < p;
  }

  one<T>(list: readonly [T, ...T[]]): T {
    return list[this.below(list.length)] ?? list[0];
  }
}

/** Makes the program draw its random values from these dice. Returns a function that restores real randomness. */
export function rollingFor(seed: number): () => void {
  const dice = new Dice(seed);
  const { randomBytes } = crypto;
  const { random } = Math;
  const bytes = (size: number) => {
    const drawn = Buffer.allocUnsafe(size);
    for (let i = 0; i < size; i++) drawn[i] = dice.below(256);
    return drawn;
  };
  Object.assign(crypto, { randomBytes: bytes });
  Math.random = () => dice.next();
  syncBuiltinESMExports();
  return () => {
    Object.assign(crypto, { randomBytes });
    Math.random = random;
    syncBuiltinESMExports();
  };
}
