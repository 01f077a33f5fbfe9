import { failPoint } from '../core/fail-point.js';
import { effectsOf, membersOf, type Order } from '../core/order.js';
import type { RealmProfile } from '../core/profile.js';
import { type OrderEvent, type OrderRef, type RealmLedger, reading, sending } from '../ledger/index.js';
import type { Evidence, ReadTrouble } from './balances.js';
import { type Delivered, OVER, type WorkItem } from './queues.js';
import type { Elapsed, TwoClocks } from './two-clocks.js';
import type { Unread } from './unread.js';

/**
 * Resolving an unknown by reading the members back. Sound only while nothing else moves them, which the
 * operator asserts by choosing `readback`: moved by exactly the tokens proves paid at once; unmoved proves
 * not applied only after the settle time and two equal reads; anything else is a doubt.
 */
type BalancesRead = Extract<OrderEvent, { event: 'balances' }>;
/** As it is kept with the order, and what the members should have had. */
export type BalancesBefore = BalancesRead & { readonly expected: readonly (string | null)[] };

type ReadbackParts = {
  readonly ledger: RealmLedger;
  readonly profile: RealmProfile;
  readonly evidence: Pick<Evidence, 'balances' | 'ofDoubt'>;
  readonly clocks: TwoClocks;
  readonly unread: Pick<Unread, 'whileUnknown'>;
  readonly onTrouble: (message: string) => void;
};

/** An order that the realm has paid. */
type PaidOrder = { readonly ref: OrderRef; readonly order: Order; readonly currency: string | null };

/** What the ledger holds about an order that may be unknown. */
type Facts = {
  readonly record: Awaited<ReturnType<typeof reading.orders.record>>;
  readonly details: readonly OrderEvent[];
  /** Why read-back proves nothing in this batch any more. */
  readonly ended: string | null;
  readonly hold: string | null;
  readonly settleMs: number;
};

export class Readback {
  constructor(private readonly parts: ReadbackParts) {}

  /**
   * The balances before sending, under the hold, and what the members should have. The two are compared only once the
   * order is paid: the ledger has said then that nobody else had the hold in between. (Two deliveries of one order may
   * read at once, and one may find what the other has paid.)
   */
  async before(order: Order, currency: string | null): Promise<BalancesBefore | ReadTrouble> {
    const expected = await sending.readback.expected(this.parts.ledger, membersOf(order), currency);
    const balances = await this.parts.evidence.balances(order, currency);
    if ('kind' in balances) return balances;
    return { event: 'balances', at: Date.now(), when: 'before', balances, expected };
  }

  /**
   * The continuous check, before the settle lets go of the members: while nothing else moves a member, a paid order
   * leaves it at exactly what it had plus the tokens, and the next read of it, by whatever process, finds that. Once
   * it does not, read-back proves nothing in this run any more.
   */
  async paid(paid: PaidOrder, before: BalancesBefore, answered: string | null): Promise<void> {
    const { order, currency } = paid;
    const after: [member: string, balance: string][] = [];
    for (const [i, { member, delta }] of effectsOf(order).entries()) {
      const was = balanceOf(order, member, before.balances);
      if (was === null) continue;
      const should = before.expected[i] ?? was;
      if (should !== was) await this.endReadback(paid, member, should, was);
      const now = String(BigInt(was) + delta);
      if (member === order.member && answered !== null && answered !== now)
        await this.endReadback(paid, member, now, answered);
      else after.push([member, now]);
    }
    await sending.readback.note(this.parts.ledger, after, currency);
  }

  private async endReadback(
    { ref, order }: PaidOrder,
    member: string,
    expected: string,
    found: string,
  ): Promise<void> {
    const { ledger, onTrouble } = this.parts;
    // It may have been a request of our own that came late.
    if (await sending.readback.isOvertaken(ledger, membersOf(order), Date.now())) return;
    const message = `Member ${member} should have had ${expected} and has ${found}: something else moves members. Read-back proves nothing in this batch any more; every later unknown is a doubt.`;
    if (await sending.readback.end(ledger, ref.no, message, Date.now())) onTrouble(message);
  }

  async resolve(item: WorkItem): Promise<Delivered> {
    const { era } = this.parts.ledger.mark;
    const facts = await this.factsOf(item.ref);
    if (reading.orders.stateOf(facts.record) !== 'unknown') return OVER;
    const judged = await this.judge(item, facts);
    if (!('to' in judged)) return judged;
    const read = { hold: facts.hold ?? '', era };
    return this.conclude(item, judged, { batch: item.batch, attempt: facts.record.nonce, read });
  }

  private async factsOf(ref: OrderRef): Promise<Facts> {
    const { ledger, profile } = this.parts;
    const place = { ledger, no: ref.no };
    const [record, details, ended, hold, settleMs] = await Promise.all([
      reading.orders.record(place, ref.index),
      reading.orders.details(place, ref.index),
      sending.readback.ended(ledger, ref.no),
      sending.readback.hold(ledger, ref),
      sending.readback.longestSettleMs(ledger, profile.settleMs),
    ]);
    return { record, details, ended, hold, settleMs };
  }

  /** A verdict about an order that is unknown, or when it is looked at again. */
  private async judge(item: WorkItem, facts: Facts): Promise<Verdict | Delivered> {
    const { ledger, clocks, evidence } = this.parts;
    const { ref, row, terms } = item;
    const { record, details, ended, hold } = facts;
    const { nonce: attempt } = record;
    const before = details.findLast(isReadBefore(attempt));
    if (terms.certainty !== 'readback')
      return toDoubt('the outcome is unknown and this realm’s certainty gives no way to prove it');
    if (attempt === null || before === undefined || record.sentAt === null)
      return toDoubt('the ledger has no balance that was read before this attempt, so no balance proves it');
    if (hold === null)
      return toDoubt('the order no longer holds its members, so that a balance proves nothing');
    if (ended !== null) return toDoubt(ended);
    if (await sending.readback.isOvertaken(ledger, membersOf(row.order), record.sentAt))
      return toDoubt(
        'another request on this member that nobody can speak for may have arrived meanwhile, so nothing read proves it',
      );

    // Counted from this process's first look, not from a wall clock's idea of when it was sent.
    const waited = await clocks.since(attempt);
    const now = await evidence.balances(row.order, terms.currency);
    if ('kind' in now) return this.notRead(item, attempt, details, now);
    failPoint('balances-read');
    await sending.readback.noteEvent(ledger, ref, check(now));
    failPoint('check-noted');
    switch (compare(row.order, before.balances, now)) {
      case 'moved':
        return paidBy(now);
      case 'other':
      case 'unreadable':
        return toDoubt(
          'the balance is neither what it was nor what it would be: something else moves this member',
        );
      case 'unmoved':
        return this.unmoved(attempt, waited, facts);
    }
  }

  private async notRead(
    item: WorkItem,
    attempt: string,
    details: readonly OrderEvent[],
    why: ReadTrouble,
  ): Promise<Verdict | Delivered> {
    const { ledger, profile, unread } = this.parts;
    const looks = failedLooks(details);
    // What is counted must survive this process; what speaks of the realm alone is not, and enough is enough.
    if ((why.kind === 'unread' || why.kind === 'refused') && looks < profile.attempts.max)
      await sending.readback.noteEvent(ledger, item.ref, check(NOTHING_READ));
    const again = await unread.whileUnknown(item, { attempt, looks }, why);
    const message = `the member could not be read any more (${why.message.replace(/\.$/, '')}), so nothing proves it`;
    return again === 'doubt' ? toDoubt(message) : again;
  }

  /** An unmoved balance proves that nothing was applied only after the settle time, and in two equal reads. */
  private async unmoved(
    attempt: string,
    waited: Elapsed,
    { record, settleMs }: Facts,
  ): Promise<Verdict | Delivered> {
    const { clocks } = this.parts;
    if (!waited.agree)
      return toDoubt('the clocks disagree about how long ago it was sent, so nothing proves it settled');
    if (waited.ms < settleMs)
      return { againInMs: Math.min(LOOK_AGAIN_MS, Math.max(1, settleMs - waited.ms)) };
    // The second of two equal reads, both after the settle time.
    const calm = await clocks.since(`${attempt} calm`);
    if (calm.ms < SECOND_READ_MS) return { againInMs: SECOND_READ_MS };
    clocks.forget(attempt);
    clocks.forget(`${attempt} calm`);
    return this.notApplied(record.tries + 1);
  }

  /** Nothing can be asked any more: an unknown becomes a doubt. */
  async giveUp(item: WorkItem, attempt: string | null, why: string): Promise<Delivered> {
    const read = { hold: '', era: this.parts.ledger.mark.era };
    return this.conclude(item, toDoubt(why), { batch: item.batch, attempt, read });
  }

  private notApplied(tries: number): Verdict {
    const message = 'unmoved after the settle time, in two equal reads: it was not applied';
    const exhausted = tries >= this.parts.profile.attempts.max;
    return {
      to: exhausted ? 'exhausted' : 'planned',
      evidence: exhausted ? 'readback' : null,
      detail: concluded(exhausted ? 'exhausted' : 'planned', 'ALM_SEND_NOT_SENT', message),
      dueInMs: 0,
      balance: null,
      tries,
    };
  }

  private async conclude(
    { ref, row, terms }: WorkItem,
    verdict: Verdict,
    about: sending.Conclusion['about'],
  ): Promise<Delivered> {
    const { ledger, evidence } = this.parts;
    const done = await sending.conclude(ledger, ref, row, { ...verdict, about, audit: null });
    if (verdict.to === 'doubt' && done.concluded) await evidence.ofDoubt(ref, row.order, terms.currency);
    return verdict.to === 'planned' && done.concluded ? { againInMs: 0 } : { next: done.next };
  }
}

const SECOND_READ_MS = 500;
/** However long the settle time is: a delivery put off for longer would be taken for one of a stepped clock. */
const LOOK_AGAIN_MS = 10 * 60_000;

type Verdict = Omit<sending.Conclusion, 'about' | 'audit'>;

function paidBy(now: reading.Balances): Verdict {
  return {
    to: 'paid',
    evidence: 'readback',
    detail: concluded('paid', null, 'the balance moved by exactly the tokens'),
    dueInMs: 0,
    balance: now.member,
    tries: null,
  };
}

function toDoubt(message: string): Verdict {
  return {
    to: 'doubt',
    evidence: null,
    detail: concluded('doubt', 'ALM_SEND_UNRESOLVED', message),
    dueInMs: 0,
    balance: null,
    tries: null,
  };
}

const NOTHING_READ: reading.Balances = { member: null, recipient: null };

function check(balances: reading.Balances): OrderEvent {
  return { event: 'balances', at: Date.now(), when: 'check', balances };
}

/** Looks since the last one that showed a balance, or since it was sent. */
function failedLooks(details: readonly OrderEvent[]): number {
  const shown = details.findLastIndex((one) => one.event === 'balances' && one.balances.member !== null);
  return details.slice(shown + 1).filter((one) => one.event === 'balances' && one.when === 'check').length;
}

function concluded(state: string, code: string | null, message: string): OrderEvent {
  return { event: 'concluded', at: Date.now(), state, by: 'readback', code, message };
}

/** Whether an event holds the balances that were read before this attempt. */
function isReadBefore(attempt: string | null) {
  return (event: OrderEvent): event is BalancesRead =>
    event.event === 'balances' && event.when === 'before' && event.of === attempt;
}

/** Both members of a transfer must tell the same story; a one-sided move is `other`. */
export function compare(
  order: Order,
  before: reading.Balances,
  now: reading.Balances,
): 'moved' | 'unmoved' | 'other' | 'unreadable' {
  const stories = effectsOf(order).map(({ member, delta }) => {
    const [was, is] = [balanceOf(order, member, before), balanceOf(order, member, now)];
    if (was === null || is === null) return 'unreadable';
    const moved = BigInt(is) - BigInt(was);
    return moved === delta ? 'moved' : moved === 0n ? 'unmoved' : 'other';
  });
  if (stories.includes('unreadable')) return 'unreadable';
  const [first = 'other', ...others] = stories;
  return others.every((story) => story === first) ? first : 'other';
}

function balanceOf(order: Order, member: string, balances: reading.Balances): string | null {
  return member === order.member ? balances.member : balances.recipient;
}
