import { createHash } from 'node:crypto';
import type { Requirement } from '../../core/people.js';
import type { RealmProfile } from '../../core/profile.js';
import { openCount } from '../../core/states.js';
import { type Fence, type KnownRealm, openDead, type RealmState } from '../../ledger/index.js';
import { isOver } from '../../operations/batches/batch-status.js';
import { isRequired } from '../../operations/people/who.js';
import type { RealmPace } from '../../operations/services/pace.js';
import { requirementWords } from '../../words/people.js';
import { isoTime } from '../../words/spelling.js';
import type { RealmCard } from '../api/index.js';
import type { SeenBatch } from './batch-views.js';
import type { PaceHistory } from './rates.js';

/** A realm on the front page: its pace, what waits, and what wants attention. */
const UNLIMITED_WINDOW_MS = 60_000;

export function realmCard(facts: {
  readonly owner: KnownRealm;
  readonly profile: RealmProfile | undefined;
  readonly state: RealmState;
  readonly fence: Fence;
  /** Since when first sends wait for a person after a rollback; null where they do not. */
  readonly waitsSinceMs: number | null;
  readonly batches: readonly SeenBatch[];
  readonly pace: PaceHistory;
  readonly limits: RealmPace;
  readonly required: Requirement;
  readonly now: number;
}): RealmCard {
  const { owner, profile, state, fence, waitsSinceMs, batches, pace, limits, required, now } = facts;
  const allowed = limits.learnt ?? profile?.rate ?? null;
  const sum = (count: (batch: SeenBatch) => number) => batches.reduce((all, batch) => all + count(batch), 0);
  const unsettled = batches.filter(({ view }) => !isOver(view) && openCount(view.counts) > 0);
  const oldest = Math.min(...unsettled.map(({ view }) => view.manifest.createdAt));
  return {
    realm: profile?.name ?? owner.name,
    realmId: owner.realmId,
    baseUrl: owner.baseUrl,
    rehearsal: owner.rehearsal,
    configured: profile !== undefined,
    certainty: profile?.certainty ?? null,
    currency: profile?.currency ?? null,
    secondPerson: isRequired(required) ? requirementWords(required) : null,
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
    waiting: sum((batch) => (isForWorkers(batch) ? openCount(batch.view.counts) : 0)),
    queued: sum(({ view, dispatched }) => (isOver(view) ? 0 : dispatched)),
    dead: sum(({ view }) => openDead(view)),
    doubts: sum(({ view: { counts } }) => counts.doubt ?? 0),
    unsettledMark: unsettledMark(batches),
    oldestUnsettledAt: unsettled.length === 0 ? null : isoTime(oldest),
  };
}

/** What a batch that is over counts as its version moves only when somebody deals with its orders; others move always. */
function unsettledMark(batches: readonly SeenBatch[]): string {
  const waiting = batches.filter(({ view }) => openDead(view) > 0 || (view.counts.doubt ?? 0) > 0);
  const facts = waiting.map(({ ref, view }) => [
    ref.no,
    openDead(view),
    isOver(view) && view.version,
    ...(['refused', 'exhausted', 'doubt'] as const).map((state) => [
      view.counts[state],
      String(view.sums[state]),
    ]),
  ]);
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 12);
}

/** Whether its orders would be sent if only a worker ran. */
export function isForWorkers({ view }: SeenBatch): boolean {
  const waitsForPerson = view.gate?.closed === 'approval' || view.gate?.closed === 'start-missed';
  return view.owner === '' && (view.state === 'planned' || view.state === 'running') && !waitsForPerson;
}
