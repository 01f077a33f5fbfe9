import type { WriteOutcome } from '../core/classify.js';
import { type Decision, decide } from '../core/decide.js';
import { messageOf } from '../core/errors/error.js';
import { failPoint } from '../core/fail-point.js';
import { orderId } from '../core/ids.js';
import { membersOf, type Order, signedTokens } from '../core/order.js';
import { REFUSED_MAX } from '../core/overdue.js';
import { PACE } from '../core/pace-constants.js';
import type { RealmProfile } from '../core/profile.js';
import type { OrderState } from '../core/states.js';
import { changeOf, type Terms, termsOf } from '../core/terms.js';
import {
  type Manifest,
  newNonce,
  type OrderRef,
  type RealmLedger,
  type Reason,
  reading,
  sending,
} from '../ledger/index.js';
import type { RealmClient } from '../realm/client/client.js';
import type { Evidence } from './balances.js';
import type { KnownBatches } from './batches.js';
import type { Pace, Slot } from './pace.js';
import { type Delivered, type OnDead, OVER, type WorkItem } from './queues.js';
import { type BalancesBefore, Readback } from './readback.js';
import { capReason } from './reasons.js';
import { type Attempt, settlementOf } from './settlement.js';
import { KeyClocks, type KnownKey, settleTime, storeClock, TwoClocks } from './two-clocks.js';
import { Unread } from './unread.js';

/**
 * One order's way through a worker: ask the ledger, wait for the pace, mark as sending, send, classify,
 * settle. The ledger decides at every step; a delivery that comes twice, late, or for a paid order ends
 * without a request. Once the request has left, nothing here aborts it.
 */
export type SenderDeps = {
  readonly ledger: RealmLedger;
  readonly profile: RealmProfile;
  readonly client: RealmClient;
  readonly pace: Pace;
  readonly plans: reading.PlanReader;
  readonly attempts: sending.Attempts;
  /** The session for a run's own batch, empty for the workers' batches. */
  readonly owner: string;
  readonly batches: KnownBatches;
  readonly evidence: Evidence;
  readonly stopping: () => boolean;
  readonly onTrouble: (message: string) => void;
  readonly onDead: OnDead;
  readonly onSettled: (order: Order, outcome: WriteOutcome) => void;
};

/** The order may be sent: what it holds, the balances read under that hold, and its slot of the pace. */
type Cleared = {
  readonly hold: string;
  readonly before: BalancesBefore | null;
  readonly slot: Slot;
};

/** What an attempt needs on its way beside its order. */
type Sending = Pick<Cleared, 'before' | 'slot'> & {
  readonly known: KnownKey | null;
  /** Whether so much time has passed since the ledger allowed it that the process may have been given up. */
  readonly isLate: () => boolean;
};

/** The store was restarted: the delivery is made again when the journals are merged. */
const UNTIL_OPEN: Delivered = { againInMs: 250 };

const DEAD: readonly OrderState[] = ['refused', 'exhausted', 'doubt'];

export class OrderSender {
  private readonly capReason: Reason;
  private readonly readback: Readback;
  private readonly unread: Unread;
  private readonly keyClocks: KeyClocks;

  constructor(private readonly parts: SenderDeps) {
    const { ledger, profile, batches, evidence, onDead, onTrouble } = parts;
    const clocks = new TwoClocks(storeClock(ledger));
    this.capReason = capReason(profile);
    this.unread = new Unread(ledger, profile, (no) => batches.manifest(no), onDead);
    this.readback = new Readback({ ledger, profile, evidence, clocks, unread: this.unread, onTrouble });
    this.keyClocks = new KeyClocks(clocks);
  }

  async send(ref: OrderRef): Promise<Delivered> {
    const { ledger, owner, plans, profile, pace, batches } = this.parts;
    if (this.parts.stopping()) return OVER;
    // Sending more would only add results that the store refuses.
    if (this.parts.attempts.offers.left >= REFUSED_MAX) return { againInMs: 1_000 };
    // The manifest first: should the store be rolled back in between, its id is the old one and begins nothing.
    const manifest = await batches.manifest(ref.no);
    const row = await plans.row(ref.no, ref.index);
    if (!reading.orders.isPlanned(row)) return OVER;
    const terms = termsOf(manifest, profile);
    const item = { batch: manifest.batch, ref, row, terms };
    if (changeOf(manifest, profile) !== null) return this.standStill(item);
    const held = terms.certainty === 'readback' ? membersOf(row.order) : [];

    let hold = '';
    // Without a limit and without holds, asking ahead saves nothing: beginSending asks the same.
    if (pace.limited || held.length > 0) {
      const answer = await sending.claim(ledger, ref, owner, held);
      if ('refusal' in answer) return this.refused(item, answer);
      failPoint('claimed');
      if (answer.unknown && terms.certainty !== 'idempotent') return this.readback.resolve(item);
      hold = answer.hold;
    }
    const before = held.length > 0 ? await this.readback.before(row.order, terms.currency) : null;
    if (before !== null && 'kind' in before) return this.unread.beforeSending(ref, row, hold, before);
    const slot = await pace.take(() => !this.parts.stopping());
    failPoint('slot-taken');
    return slot === undefined ? OVER : this.attempt(item, manifest, { hold, before, slot });
  }

  /** The profile is not the one that was confirmed. What is unknown in a cancelled batch is still resolved. */
  private async standStill(item: WorkItem): Promise<Delivered> {
    const state = await this.parts.batches.haltChanged(item.ref.no);
    return state === 'cancelled' ? this.readback.resolve(item) : OVER;
  }

  private async attempt(
    item: WorkItem,
    manifest: Manifest,
    { hold, before, slot }: Cleared,
  ): Promise<Delivered> {
    const { attempts, profile } = this.parts;
    const { ref, row, terms } = item;
    const nonce = newNonce();
    const order = orderId(manifest.batch, ref.index);
    const resends = terms.certainty === 'idempotent';
    const known = resends ? await this.keyClocks.of(order) : null;
    const asked = { monotonic: performance.now(), wall: Date.now() };
    const begun = await attempts.begin(ref, {
      manifest,
      nonce,
      row,
      terms,
      dayCap: profile.caps.maxTokensPerDay,
      resend: resends ? { oldestMs: terms.keyLifetimeMs - this.arrivalMs(terms), known } : null,
      before: before === null ? null : { ...before, of: nonce },
      capReason: this.capReason,
      hold,
    });
    if ('refusal' in begun) {
      slot.answered();
      return this.refused(item, begun);
    }
    const attempt = { manifest, nonce, begun, key: `${order}.${begun.keyNumber}`, reference: row.reference };
    // A process that was frozen since may have been given up. Both clocks: one stands still while a machine sleeps, the
    // other may be stepped. They are compared when the connection stands, because connecting may take long too.
    const isLate = () =>
      performance.now() - asked.monotonic > PACE.FRESH_MS ||
      Math.abs(Date.now() - asked.wall) > PACE.FRESH_MS;
    try {
      return await this.sendBegun(item, attempt, { before, known, slot, isLate });
    } catch (error) {
      // Nothing is under way any more: recovery settles the order by its journal.
      attempts.abandon(nonce);
      throw error;
    }
  }

  /** The request may have left from here on. After any error the order is settled, or recovery finds it. */
  private async sendBegun(
    item: WorkItem,
    attempt: Attempt,
    { before, known, slot, isLate }: Sending,
  ): Promise<Delivered> {
    const { profile, attempts } = this.parts;
    const { ref, row, terms } = item;
    const { begun } = attempt;
    let heldBack = false;
    const mayLeave = () => {
      heldBack = isLate();
      return !heldBack;
    };
    const outcome = await this.request(row.order, attempt.key, terms.currency, mayLeave);
    if (heldBack) {
      slot.answered();
      // It counts as a connection that did not come about: the breaker opens where every connection takes too long.
      await attempts.takeBack(ref, attempt.nonce, begun, 'ALM_SEND_NOT_SENT');
      return { againInMs: 0 };
    }
    failPoint('answered');
    slot.answered(outcome);
    const decision = decide(outcome, {
      certainty: terms.certainty,
      attempts: profile.attempts,
      resend: begun.resend ? settleTime(begun, known, profile.settleMs) : null,
      keyNumber: begun.keyNumber,
      tries: begun.tries,
      sent: begun.attempts,
      random: Math.random,
    });
    const paid = decision.next === 'paid' && before !== null;
    const afterwards = (settled: sending.Settled) =>
      this.settled(item, attempt, { outcome, decision }, settled);
    const settlement = settlementOf(profile, attempt, outcome, decision);
    const settled = await attempts.settle({ ref, nonce: attempt.nonce, row }, settlement, {
      ...(paid && {
        before: () =>
          this.readback.paid({ ref, order: row.order, currency: terms.currency }, before, outcome.balance),
      }),
      late: (late) => {
        afterwards(late).catch((error: unknown) =>
          this.parts.onTrouble(`after order ${attempt.key} was settled: ${messageOf(error)}`),
        );
      },
    });
    return settled === null ? OVER : afterwards(settled);
  }

  /** What follows once the ledger has taken the result. */
  private async settled(
    { ref, row, terms }: WorkItem,
    { manifest, begun }: Attempt,
    { outcome, decision }: { readonly outcome: WriteOutcome; readonly decision: Decision },
    settled: sending.Settled,
  ): Promise<Delivered> {
    const { batch } = manifest;
    const order = orderId(batch, ref.index);
    this.parts.onSettled(row.order, outcome);
    if (decision.next === 'unknown') await this.keyClocks.unknown(order, begun, outcome.kind !== 'unknown');
    else this.keyClocks.forget(order);
    if (!settled.settled) return OVER;
    const { state } = settled;
    if (DEAD.includes(state))
      this.parts.onDead({ batch, ref, row, state, why: outcome, attempts: begun.attempts });
    if (state === 'doubt') await this.parts.evidence.ofDoubt(ref, row.order, terms.currency);
    if (state === 'planned' || state === 'unknown') return { againInMs: decision.dueInMs };
    return { next: settled.next };
  }

  /**
   * How long a resend may be on its way: it must arrive while its key is known. It may hang in the realm for the settle
   * time; only a life that is hardly longer than that leaves no room for it, and then its time-out has to do.
   */
  private arrivalMs({ keyLifetimeMs }: Terms): number {
    const { settleMs, timeouts } = this.parts.profile;
    return 2 * settleMs <= keyLifetimeMs ? Math.max(settleMs, timeouts.totalMs) : timeouts.totalMs;
  }

  private request(
    order: Order,
    idempotencyKey: string,
    currency: string | null,
    mayLeave: () => boolean,
  ): Promise<WriteOutcome> {
    const { client } = this.parts;
    const { member } = order;
    return order.op === 'transfer'
      ? client.transfer({
          member,
          recipient: order.recipient,
          tokens: order.tokens,
          currency,
          idempotencyKey,
          mayLeave,
        })
      : client.changeBalance({ member, tokens: signedTokens(order), currency, idempotencyKey, mayLeave });
  }

  /** What becomes of a delivery that the ledger refuses, by why it does. */
  private refused(item: WorkItem, why: sending.Refused): Delivered | Promise<Delivered> {
    switch (why.refusal) {
      case 'format':
      case 'lost':
      case 'rollback':
      case 'disarmed':
      case 'era':
        return UNTIL_OPEN;
      case 'early':
      case 'quiet':
        return { againInMs: why.earlyByMs };
      case 'clocks':
        return this.readback.giveUp(item, why.attempt, KEY_AGE_UNKNOWN);
      case 'key-old':
        return this.readback.giveUp(item, why.attempt, KEY_OLD);
      case 'instead':
        return this.endedInstead(item, why);
      case 'order':
        // The realm's certainty was changed while this order was unknown: it is resolved by the new one.
        return why.state === 'unknown' ? this.readback.resolve(item) : OVER;
      // Nothing is lost with the delivery: whoever ends these makes a new one, or the sweeper does.
      case 'halted':
      case 'breaker':
      case 'gone':
      case 'batch':
      case 'owner':
      case 'recovered':
      case 'after-rollback':
      case 'not-due':
      case 'member-held':
      case 'hold-lost':
      case 'in-order':
      case 'cap':
      case 'approval':
      case 'start-time':
      case 'start-missed':
        return OVER;
      default:
        return neverAnswered(why);
    }
  }

  private endedInstead(
    { batch, ref, row }: WorkItem,
    { state, attempts, code, message }: Extract<sending.Refused, { readonly refusal: 'instead' }>,
  ): Delivered {
    if (DEAD.includes(state))
      this.parts.onDead({ batch, ref, row, state, why: { code, status: null, message }, attempts });
    return OVER;
  }
}

function neverAnswered(why: never): never {
  throw new TypeError(`no script answers ${JSON.stringify(why)}`);
}

const KEY_OLD =
  'the realm may have forgotten its key by now, so that asking again could pay a second time; nothing was sent';
const KEY_AGE_UNKNOWN =
  'the clocks disagree about how old its key is, so that asking again could pay a second time; nothing was sent';
