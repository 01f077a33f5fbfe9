import { LRUCache } from 'lru-cache';
import type { Resend } from '../core/decide.js';
import type { OrderId } from '../core/ids.js';
import { type RealmLedger, sending, storeNowMs } from '../ledger/index.js';

/**
 * How long ago something was, by the store's clock and this process's monotonic clock together. A wall
 * clock may be stepped and a monotonic one stands still while a machine sleeps; where the two tell different
 * stories, nobody knows, and the caller doubts. A process that was restarted begins to count anew: that only
 * makes it wait longer.
 */
export type Elapsed = {
  /** At least that long, so that waiting is never cut short. */
  readonly ms: number;
  /** And at most, where an age may be too great. */
  readonly atMostMs: number;
  readonly agree: boolean;
};

/** The store's clock was read at some time between the question and its answer, by this process's own. */
type Moment = { readonly storeMs: number; readonly askedMs: number; readonly answeredMs: number };

/** What was dropped is counted anew: that only makes it wait longer as well. */
const STARTS_MAX = 20_000;

export class TwoClocks {
  /** Made when it is needed: making its 20,000 places takes 3 ms, and few runs have an order to wait for. */
  private starts: LRUCache<string, Moment> | undefined;

  constructor(
    /** The store's clock; `storeClock` asks a real one. */
    readonly storeMs: () => Promise<number>,
    private readonly ownMs: () => number = () => performance.now(),
  ) {}

  now(): Promise<Moment> {
    return readClocks(this.storeMs, this.ownMs);
  }

  /** Since it was asked about for the first time. */
  async since(what: string): Promise<Elapsed> {
    const start = this.starts?.get(what);
    if (start !== undefined) return elapsed(start, await this.now());
    const now = await this.now();
    this.starts ??= new LRUCache<string, Moment>({ max: STARTS_MAX });
    this.starts.set(what, now);
    return JUST_NOW;
  }

  forget(what: string): void {
    this.starts?.delete(what);
  }
}

async function readClocks(storeMs: () => Promise<number>, ownMs: () => number): Promise<Moment> {
  const askedMs = ownMs();
  return { storeMs: await storeMs(), askedMs, answeredMs: ownMs() };
}

/** A slow reply, or a process that stood still over it, is no step of a clock: it only widens what is known. */
function between(since: Moment, now: Moment) {
  const [least, most] = [now.askedMs - since.answeredMs, now.answeredMs - since.askedMs];
  return { store: now.storeMs - since.storeMs, least, most, tolerance: TOLERANCE_MS + most * TOLERANCE };
}

function elapsed(since: Moment, now: Moment): Elapsed {
  const { store, least, most, tolerance } = between(since, now);
  return {
    ms: Math.min(store, least),
    atMostMs: Math.max(store, most),
    agree: store >= least - tolerance && store <= most + tolerance,
  };
}

const JUST_NOW: Elapsed = { ms: 0, atMostMs: 0, agree: true };

export function storeClock(ledger: RealmLedger): () => Promise<number> {
  return () => storeNowMs(ledger);
}

/** Clocks are slewed; a step is larger. */
const TOLERANCE_MS = 2_000;
const TOLERANCE = 0.01;

/**
 * Watches the store's clock by this process's own. What the scripts judge by the store's clock alone, void marks
 * and the time in which a request that was called unpaid may arrive, a step forward would end early. It is noted in
 * the ledger, for everybody: for another settle time nothing of before is over. After a step that nobody saw, and
 * before the next look, the store's clock is all there is.
 */
export class ClockWatch {
  private last: Moment | undefined;

  constructor(
    private readonly ledger: RealmLedger,
    private readonly settleMs: number,
    private readonly onTrouble: (message: string) => void,
    private readonly clocks = new TwoClocks(storeClock(ledger)),
  ) {}

  async look(): Promise<void> {
    const now = await this.clocks.now();
    if (this.last !== undefined) {
      const { store, most, tolerance } = between(this.last, now);
      if (store - most > tolerance) await this.note(now.storeMs, store - most);
    }
    this.last = now;
  }

  private async note(storeMs: number, aheadMs: number): Promise<void> {
    await sending.readback.noteClockStep(this.ledger, { storeMs, aheadMs, settleMs: this.settleMs });
    this.onTrouble(
      `the store's clock went ${Math.round(aheadMs / 1000)} s ahead of this process's: what was waiting for the settle time waits for it anew`,
    );
  }
}

/**
 * What this process knows by its own clock of the orders that it saw unknown: since when their key is in use,
 * and since when an attempt under it stays unanswered. It is about that very key: an order may end elsewhere
 * and come back under another one.
 */
type Seen = { readonly keyNumber: number; readonly first: Moment; readonly unanswered: Moment };

export type KnownKey = NonNullable<sending.KeyAge['known']> & { readonly unanswered: Elapsed };

/** A key that was dropped is known no better than after a restart. */
const SEEN_MAX = 20_000;

export class KeyClocks {
  /** Made when it is needed, like the starts of `TwoClocks`. */
  private seen: LRUCache<OrderId, Seen> | undefined;

  constructor(private readonly clocks: TwoClocks) {}

  async of(order: OrderId): Promise<KnownKey | null> {
    const seen = this.seen?.get(order);
    if (seen === undefined) return null;
    const now = await this.clocks.now();
    const age = elapsed(seen.first, now);
    const unanswered = elapsed(seen.unanswered, now);
    return { keyNumber: seen.keyNumber, ms: age.agree ? age.atMostMs : null, unanswered };
  }

  /** An attempt that is unknown. From one without an answer the settle time counts anew, the life of its key does not. */
  async unknown(order: OrderId, { keyNumber, resend }: sending.Begun, answered: boolean): Promise<void> {
    const now = await this.clocks.now();
    const seen = resend ? this.seen?.get(order) : undefined;
    const known = seen?.keyNumber === keyNumber ? seen : { first: now, unanswered: now };
    this.seen ??= new LRUCache<OrderId, Seen>({ max: SEEN_MAX });
    this.seen.set(order, { ...known, keyNumber, ...(!answered && { unanswered: now }) });
  }

  forget(order: OrderId): void {
    this.seen?.delete(order);
  }
}

/** Whether what stayed unanswered before a resend can still arrive, by the store's clock and by this process's own. */
export function settleTime(begun: sending.Begun, known: KnownKey | null, settleMs: number): Resend {
  const own = known?.keyNumber === begun.keyNumber ? known.unanswered : NEVER_SEEN;
  const byStoreMs = begun.sentAt - (begun.unansweredUntil ?? begun.firstSentAt);
  const settleLeftMs = Math.max(0, Math.max(settleMs, begun.settleMs) - Math.min(own.ms, byStoreMs));
  if (!own.agree || byStoreMs < 0) return { settleTime: 'clocks-disagree', settleLeftMs };
  return { settleTime: settleLeftMs > 0 ? 'not-yet' : 'over', settleLeftMs };
}

/** A process that sees an unknown for the first time begins to count: it only waits longer. */
const NEVER_SEEN = JUST_NOW;
