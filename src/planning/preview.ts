import { absoluteOf, sumOf } from '../core/op-sums.js';
import { OPS, type Op } from '../core/order.js';
import type { Certainty, RealmProfile } from '../core/profile.js';
import { endOfWork } from '../core/quiet-hours.js';
import { type BatchView, type RealmLedger, reading } from '../ledger/index.js';
import { type Plan, toPay } from './plan.js';
import { NO_TIMES, type SetTimes } from './set-times.js';

/** What a person must see before points move: who is paid how much, from which books, and how long it takes. */
export type Preview = Awaited<ReturnType<typeof previewPlan>>;

/** Without a limit the time is a guess; this many requests a second is what one core can do. */
const UNLIMITED_PER_SECOND = 1_000;
/** One order at a time per member under read-back: each costs about this long. */
const READBACK_ORDER_SECONDS = 0.5;

export async function previewPlan(
  plan: Plan,
  { profile, ledger }: { readonly profile: RealmProfile; readonly ledger: RealmLedger },
  now: number,
  { start, finishBy }: SetTimes = NO_TIMES,
) {
  const { totals } = plan;
  const { existing } = plan;
  const { payable, payableTokens, amounts, duplicates } = existing?.view ? left(existing.view) : fresh(plan);
  const requests = requestsFor(payable, totals.orders, profile.certainty);
  const seconds = secondsFor(requests, profile, payable === 0 ? 0 : totals.busiestRows);
  return {
    payable,
    payableTokens,
    /** The same apart by what it does; null for the rest of a batch that does several things. */
    amounts,
    duplicates,
    requests,
    seconds,
    start,
    finishBy,
    /** With the quiet hours in between. */
    endsAt: endOfWork(profile.quietHours, start?.at ?? now, seconds * 1000),
    past: once(() => reading.totals.paidEver(ledger)),
    dayLeft: await dayLeft(profile, ledger, now),
  };
}

/** These orders are a batch already: what is still to be paid of it, and nothing once it is over. */
function left({ counts, sums, manifest }: BatchView) {
  const payableTokens = sums.planned ?? 0n;
  const [op, ...more] = OPS.filter((each) => manifest.orders[each] > 0);
  return {
    payable: counts.planned ?? 0,
    payableTokens,
    amounts: op === undefined || more.length > 0 ? null : sumOf(op, payableTokens),
    duplicates: counts.duplicate ?? 0,
  };
}

function fresh(plan: Plan) {
  const { payableTokens: amounts, ...rest } = toPay(plan);
  return { ...rest, amounts, payableTokens: absoluteOf(amounts) };
}

/** Read-back reads each member before it is paid. */
export function requestsFor(
  payable: number,
  orders: Readonly<Record<Op, number>>,
  certainty: Certainty,
): number {
  const reads = certainty === 'readback' ? orders.credit + orders.debit + 2 * orders.transfer : 0;
  return payable === 0 ? 0 : payable + reads;
}

export function secondsFor(requests: number, profile: RealmProfile, busiestRows: number): number {
  const perSecond =
    profile.rate === null
      ? UNLIMITED_PER_SECOND
      : (Math.max(1, profile.rate.requests - profile.rateReserve) / profile.rate.windowMs) * 1000;
  const byMember = profile.certainty === 'readback' ? busiestRows * READBACK_ORDER_SECONDS : 0;
  return Math.ceil(Math.max(requests / perSecond, byMember));
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= ask();
    return asked;
  };
}

/** Books that never paid this realm are said to be new: a wrong data folder is noticed before it pays twice. */
export type BooksPast = Awaited<ReturnType<typeof reading.totals.paidEver>>;

async function dayLeft(profile: RealmProfile, ledger: RealmLedger, now: number): Promise<bigint | null> {
  const cap = profile.caps.maxTokensPerDay;
  if (cap === null) return null;
  const left = BigInt(cap) - (await reading.totals.tokensOfDay(ledger, now));
  return left < 0n ? 0n : left;
}

/**
 * About two hundred slices of the time that the run is expected to take. Of one that is over in seconds each holds some
 * orders: finer ones would only be empty.
 */
export function sliceMsOf(expectedMs: number, rows: number): number {
  const seconds = Math.ceil(expectedMs / 200 / 1_000);
  if (seconds > 1) return seconds * 1_000;
  const fewOrdersMs = (5 * expectedMs) / Math.max(1, rows);
  return Math.min(1_000, Math.ceil(Math.max(50, expectedMs / 200, fewOrdersMs) / 50) * 50);
}
