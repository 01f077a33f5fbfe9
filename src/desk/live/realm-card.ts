import type { RealmProfile } from '../../core/profile.js';
import type { Fence, KnownRealm, RealmState } from '../../ledger/index.js';
import { isRequired, requirementOf } from '../../operations/people/who.js';
import type { RealmPace } from '../../operations/services/pace.js';
import { requirementWords } from '../../words/people.js';
import { isoTime } from '../../words/spelling.js';
import type { RealmCard } from '../api/index.js';
import type { PaceHistory } from './rates.js';
import type { RealmSums } from './sums.js';

/** A realm on the front page: its pace, what waits, and what wants attention. */
const UNLIMITED_WINDOW_MS = 60_000;

export function realmCard(facts: {
  readonly owner: KnownRealm;
  readonly profile: RealmProfile | undefined;
  readonly state: RealmState;
  readonly fence: Fence;
  /** Since when first sends wait for a person after a rollback; null where they do not. */
  readonly waitsSinceMs: number | null;
  readonly sums: RealmSums;
  readonly pace: PaceHistory;
  readonly limits: RealmPace;
  readonly now: number;
}): RealmCard {
  const { owner, profile, state, fence, waitsSinceMs, sums, pace, limits, now } = facts;
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
      configured: limits.configured,
      learnt: limits.learnt,
      others: limits.others,
      holdUntil: limits.holdUntil,
      notes: limits.notes,
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
