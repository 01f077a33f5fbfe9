import { failPoint } from '../core/fail-point.js';
import type { BatchId } from '../core/ids.js';
import { effectsOf, membersOf, type Order } from '../core/order.js';
import type { RealmProfile } from '../core/profile.js';
import type { Terms } from '../core/terms.js';
import {
  type OrderEvent,
  type OrderRef,
  type PlannedOrder,
  type RealmLedger,
  reading,
  sending,
} from '../ledger/index.js';
import type { Evidence, ReadTrouble } from './balances.js';
import { type Delivered, OVER } from './queues.js';
import type { TwoClocks } from './two-clocks.js';
import type { Unread } from './unread.js';

/**
 * Resolving an unknown by reading the members back. Sound only while nothing else moves them, which the
 * operator asserts by choosing `readback`: moved by exactly the tokens proves paid at once; unmoved proves
 * not applied only after the settle time and two equal reads; anything else is a doubt.
 */
type BalancesRead = Extract<OrderEvent, { event: 'balances' }>;
/** As it is kept with the order, and what the members should have had. */
export type BalancesBefore = BalancesRead & { readonly expected: readonly (string | null)[] };

export class Readback {
  constructor(
    private readonly ledger: RealmLedger,
    private readonly profile: RealmProfile,
    private readonly evidence: Pick<Evidence, 'balances' | 'ofDoubt'>,
    private readonly clocks: TwoClocks,
    private readonly unread: Pick<Unread, 'whileUnknown'>,
    private readonly onTrouble: (message: string) => void,
  ) {}

  /**
   * The balances before sending, under the hold, and what the members should have. The two are compared only once the
   * order is paid: the ledger has said then that nobody else had the hold in between. (Two deliveries of one order may
   * read at once, and one may find what the other has paid.)
   */
  async before(order: Order, currency: string | null): Promise<BalancesBefore | ReadTrouble> {
    const expected = await sending.expectedBalances(this.ledger, membersOf(order), currency);
    const balances = await this.evidence.balances(order, currency);
    if ('kind' in balances) return balances;
    return { event: 'balances', at: Date.now(), when: 'before', balances, expected };
  }

  /**
   * The continuous check, before the settle lets go of the members: while nothing else moves a member, a paid order
   * leaves it at exactly what it had plus the tokens, and the next read of it, by whatever process, finds that. Once
   * it does not, read-back proves nothing in this run any more.
   */
  async paid(
    ref: OrderRef,
    order: Order,
    currency: string | null,
    before: BalancesBefore,
    answered: string | null,
  ): Promise<void> {
    const after: [member: string, balance: string][] = [];
    for (const [i, { member, delta }] of effectsOf(order).entries()) {
      const was = balanceOf(order, member, before.balances);
      if (was === null) continue;
      const should = before.expected[i] ?? was;
      if (should !== was) await this.endReadback(ref, order, member, should, was);
      const now = String(BigInt(was) + delta);
      if (member === order.member && answered !== null && answered !== now)
        await this.endReadback(ref, order, member, now, answered);
      else after.push([member, now]);
    }
    await sending.noteBalances(this.ledger, after, currency);
  }

  private async endReadback(
    ref: OrderRef,
    order: Order,
    member: string,
    expected: string,
    found: string,
  ): Promise<void> {
    // It may have been a request of our own that came late.
    if (await sending.isOvertaken(this.ledger, membersOf(order), Date.now())) return;
    const message = `Member ${member} should have had ${expected} and has ${found}: something else moves members. Read-back proves nothing in this batch any more; every later unknown is a doubt.`;
    if (await sending.endReadback(this.ledger, ref.no, message, Date.now())) this.onTrouble(message);
  }

  async resolve(batch: BatchId, ref: OrderRef, row: PlannedOrder, terms: Terms): Promise<Delivered> {
    const { ledger } = this;
    const { era } = ledger.mark;
    const place = { ledger, no: ref.no };
    const [record, details, ended, hold, settleMs] = await Promise.all([
      reading.readRecord(place, ref.index),
      reading.readDetails(place, ref.index),
      sending.readbackEnded(ledger, ref.no),
      sending.readHold(ledger, ref),
      sending.longestSettleMs(ledger, this.profile.settleMs),
    ]);
    if (reading.stateOf(record) !== 'unknown') return OVER;
    const { nonce: attempt } = record;
    const end = (verdict: Verdict) =>
      this.conclude(ref, row, terms, verdict, { batch, attempt, read: { hold: hold ?? '', era } });

    const before = details.findLast(isReadBefore(attempt));
    if (terms.certainty !== 'readback')
      return end(toDoubt('the outcome is unknown and this realm’s certainty gives no way to prove it'));
    if (attempt === null || before === undefined || record.sentAt === null)
      return end(
        toDoubt('the ledger has no balance that was read before this attempt, so no balance proves it'),
      );
    if (hold === null)
      return end(toDoubt('the order no longer holds its members, so that a balance proves nothing'));

    if (ended !== null) return end(toDoubt(ended));
    if (await sending.isOvertaken(ledger, membersOf(row.order), record.sentAt))
      return end(
        toDoubt(
          'another request on this member that nobody can speak for may have arrived meanwhile, so nothing read proves it',
        ),
      );

    // Counted from this process's first look, not from a wall clock's idea of when it was sent.
    const waited = await this.clocks.since(attempt);
    const now = await this.evidence.balances(row.order, terms.currency);
    if ('kind' in now) {
      const looks = failedLooks(details);
      // What is counted must survive this process; what speaks of the realm alone is not, and enough is enough.
      if ((now.kind === 'unread' || now.kind === 'refused') && looks < this.profile.attempts.max)
        await sending.noteEvent(ledger, ref, check(NOTHING_READ));
      const again = await this.unread.whileUnknown(ref, row, attempt, looks, now);
      const message = `the member could not be read any more (${now.message.replace(/\.$/, '')}), so nothing proves it`;
      return again === 'doubt' ? end(toDoubt(message)) : again;
    }
    failPoint('balances-read');
    await sending.noteEvent(ledger, ref, check(now));
    failPoint('check-noted');
    switch (compare(row.order, before.balances, now)) {
      case 'moved':
        return end({
          to: 'paid',
          evidence: 'readback',
          detail: concluded('paid', null, 'the balance moved by exactly the tokens'),
          dueInMs: 0,
          balance: now.member,
          tries: null,
        });
      case 'other':
      case 'unreadable':
        return end(
          toDoubt(
            'the balance is neither what it was nor what it would be: something else moves this member',
          ),
        );
      case 'unmoved': {
        if (!waited.agree)
          return end(
            toDoubt('the clocks disagree about how long ago it was sent, so nothing proves it settled'),
          );
        if (waited.ms < settleMs)
          return { againInMs: Math.min(LOOK_AGAIN_MS, Math.max(1, settleMs - waited.ms)) };
        // The second of two equal reads, both after the settle time.
        const calm = await this.clocks.since(`${attempt} calm`);
        if (calm.ms < SECOND_READ_MS) return { againInMs: SECOND_READ_MS };
        this.clocks.forget(attempt);
        this.clocks.forget(`${attempt} calm`);
        return end(this.notApplied(record.tries + 1));
      }
    }
  }

  /** Nothing can be asked any more: an unknown becomes a doubt. */
  async giveUp(
    about: { readonly batch: BatchId; readonly attempt: string | null },
    ref: OrderRef,
    row: PlannedOrder,
    terms: Terms,
    why: string,
  ): Promise<Delivered> {
    const read = { hold: '', era: this.ledger.mark.era };
    return this.conclude(ref, row, terms, toDoubt(why), { ...about, read });
  }

  private notApplied(tries: number): Verdict {
    const message = 'unmoved after the settle time, in two equal reads: it was not applied';
    const exhausted = tries >= this.profile.attempts.max;
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
    ref: OrderRef,
    row: PlannedOrder,
    { currency }: Terms,
    verdict: Verdict,
    about: sending.About,
  ): Promise<Delivered> {
    const done = await sending.conclude(this.ledger, ref, row, { ...verdict, about, audit: null });
    if (verdict.to === 'doubt' && done.concluded) await this.evidence.ofDoubt(ref, row.order, currency);
    return verdict.to === 'planned' && done.concluded ? { againInMs: 0 } : { next: done.next };
  }
}

const SECOND_READ_MS = 500;
/** However long the settle time is: a delivery put off for longer would be taken for one of a stepped clock. */
const LOOK_AGAIN_MS = 10 * 60_000;

type Verdict = Omit<sending.Conclusion, 'about' | 'audit'>;

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
