/**
 * Who is dead: one question with one table. The rows are what can be proven of a process from here
 * (ledger/here/liveness.ts), the columns when the store heard of it last. Only a proof makes a process dead; no
 * silence does, however long, because a process that cannot be heard may still be sending.
 * docs/explanation/reliability.md shows both tables of this file, and a test holds them equal.
 */
export type Liveness = 'alive' | 'dead' | 'elsewhere';
type Heard = 'heard lately' | 'not heard lately' | 'never heard';

/**
 *   at-work   it does its work, as far as can be told
 *   silent    it cannot be asked from here, and gives no sign
 *   frozen    it can be asked and lives, and has stopped giving signs
 *   dead      its death is proven
 */
export type Presence = 'at-work' | 'silent' | 'frozen' | 'dead';

export const PRESENCE: Readonly<Record<Liveness, Readonly<Record<Heard, Presence>>>> = {
  // Its socket proves that it lives. A process that never gave a sign has not stopped giving them.
  alive: { 'heard lately': 'at-work', 'not heard lately': 'frozen', 'never heard': 'at-work' },
  elsewhere: { 'heard lately': 'at-work', 'not heard lately': 'silent', 'never heard': 'silent' },
  dead: { 'heard lately': 'dead', 'not heard lately': 'dead', 'never heard': 'dead' },
};

type Conclusion = {
  /** The orders that it was sending, and the run that it owns. */
  readonly orders: 'stay' | 'may be taken over';
  /** The deliveries that it took and has not begun. Delivering twice is harmless: the ledger decides each time. */
  readonly deliveries: 'stay' | 'are made again';
  /** The cause under which people are told of the orders that it was sending. */
  readonly named: 'missing-session' | 'frozen-session' | 'dead-session' | null;
};

/** All that may be concluded from a presence. */
export const CONCLUSIONS = {
  'at-work': { orders: 'stay', deliveries: 'stay', named: null },
  silent: { orders: 'stay', deliveries: 'are made again', named: 'missing-session' },
  frozen: { orders: 'stay', deliveries: 'are made again', named: 'frozen-session' },
  dead: { orders: 'may be taken over', deliveries: 'are made again', named: 'dead-session' },
} as const satisfies Readonly<Record<Presence, Conclusion>>;

/** How often a session says that it lives. */
export const SIGN_EVERY_MS = 10_000;

/**
 * A process is late after four missed signs. A shorter time would deliver a lost machine's jobs again a little earlier,
 * which BullMQ does by itself after about a minute. But it would raise false alarms whenever the store or a process
 * stops for half a minute, and commands would no longer wait for that process to merge its journal.
 */
export const HEARD_LATELY_MS = 45_000;

/** A registered sending process, as far as can be told from here. */
export type Sign = {
  readonly session: string;
  readonly kind: string;
  readonly pid: number;
  readonly machine: string;
  readonly life: Liveness;
  /** The store's time of its last sign of life, or its start where the store noted none. */
  readonly seenMs: number;
  /** Whether the store noted any sign of it. */
  readonly beats: boolean;
};

export function presenceOf(sign: Pick<Sign, 'life' | 'seenMs' | 'beats'>, nowMs: number): Presence {
  return PRESENCE[sign.life][heard(sign, nowMs)];
}

/** A process that has just started has had no time for a sign: it counts as heard at its start. */
function heard({ seenMs, beats }: Pick<Sign, 'seenMs' | 'beats'>, nowMs: number): Heard {
  if (nowMs - seenMs <= HEARD_LATELY_MS) return 'heard lately';
  return beats ? 'not heard lately' : 'never heard';
}
