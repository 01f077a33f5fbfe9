import type { RealmProfile } from '../../core/profile.js';
import { type RealmLedger, reading, recovery } from '../../ledger/index.js';
import { isRequired, requirementOf } from '../../operations/people/who.js';
import { paceOf } from '../../operations/services/pace.js';
import { requirementWords } from '../../words/people.js';
import { isoTime } from '../../words/spelling.js';
import type { RealmCard } from '../api/index.js';
import type { PaceHistory } from './rates.js';
import type { RealmSums } from './sums.js';

/** A realm on the front page: its pace, what waits, and what wants attention. */
const UNLIMITED_WINDOW_MS = 60_000;

type Facts = {
  readonly profile: RealmProfile | undefined;
  readonly sums: RealmSums;
  readonly pace: PaceHistory;
  readonly now: number;
};

export async function realmCard(
  ledger: RealmLedger,
  { profile, sums, pace, now }: Facts,
): Promise<RealmCard> {
  // Slots taken, reads included, where the realm has a limit; else what the batches count themselves.
  pace.note(profile?.rate ? await reading.totals.slotsEverTaken(ledger) : sums.requests, now);
  const [state, fence, waits, { realm: _, ...limits }] = await Promise.all([
    reading.realmState.read(ledger),
    recovery.fence.read(ledger),
    recovery.afterRollback.readWaitAfterRollback(ledger),
    paceOf(ledger, profile?.rate ?? null),
  ]);
  const waitsSinceMs = waits?.sinceMs ?? null;
  const { realm: owner } = ledger;
  const required = profile === undefined ? null : requirementOf(profile);
  const allowed = limits.learnt ?? profile?.rate ?? null;
  return {
    realm: profile?.name ?? owner.name,
    realmId: owner.realmId,
    baseUrl: owner.baseUrl,
    rehearsal: owner.rehearsal,
    configured: profile !== undefined,
    certainty: profile?.certainty ?? null,
    currency: profile?.currency ?? null,
    currencies: [...(profile?.currencies ?? [])],
    secondPerson: required !== null && isRequired(required) ? requirementWords(required) : null,
    halt: state.halt,
    breakerSince: isoTime(state.breakerSince),
    fence: fence.untouched ? null : { armed: fence.armed, reason: fence.reason },
    waitsForPersonSince: isoTime(waitsSinceMs),
    pace: {
      allowed: allowed === null ? null : { requests: allowed.requests, windowMs: allowed.windowMs },
      ...limits,
      used: allowed === null ? pace.within(UNLIMITED_WINDOW_MS, now) : limits.used,
      recent: pace.slices(now),
    },
    waiting: sums.waiting,
    queued: sums.queued,
    dead: sums.dead,
    doubts: sums.doubts,
    unsettledMark: sums.unsettledMark,
    oldestUnsettledAt: isoTime(sums.oldestUnsettled),
  };
}
