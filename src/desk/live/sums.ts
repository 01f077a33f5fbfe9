import { createHash } from 'node:crypto';
import type { WaitingWhy } from '../../core/may-send.js';
import { openCount } from '../../core/states.js';
import { lostSessions } from '../../core/waiting.js';
import { reading } from '../../ledger/index.js';
import { isOver } from '../../operations/batches/batch-status.js';
import type { SeenBatch } from './batch-views.js';
import type { ToldBatch } from './matters.js';

/** What the batches of one ledger come to: one walk over them serves the cards of the realms and the metrics. */
export type RealmSums = {
  readonly realm: string;
  /** Orders that only a worker is needed for, those that are dispatched, dead letters and doubts. */
  readonly waiting: number;
  readonly queued: number;
  readonly dead: number;
  readonly doubts: number;
  readonly requests: number;
  readonly oldestUnsettled: number | null;
  /** Another one whenever the doubts or dead letters are others. */
  readonly unsettledMark: string;
  readonly needsWorkers: boolean;
  /** Batches that are not over, by state; orders by why they stand still; senders that are gone with orders. */
  readonly states: ReadonlyMap<string, number>;
  readonly whys: ReadonlyMap<WaitingWhy, number>;
  readonly lost: ReadonlySet<string>;
};

export function sumsByLedger(seen: readonly ToldBatch[]): ReadonlyMap<string, RealmSums> {
  const ledgers = new Map<string, ToldBatch[]>();
  for (const batch of seen) {
    const { id } = batch.ref.ledger;
    const of = ledgers.get(id);
    if (of === undefined) ledgers.set(id, [batch]);
    else of.push(batch);
  }
  return new Map([...ledgers].map(([id, batches]) => [id, sumsOf(batches)]));
}

export function sumsOf(batches: readonly ToldBatch[]): RealmSums {
  const sums = { waiting: 0, queued: 0, dead: 0, doubts: 0, requests: 0, needsWorkers: false };
  const states = new Map<string, number>();
  const whys = new Map<WaitingWhy, number>();
  const lost = new Set<string>();
  let oldest = Number.POSITIVE_INFINITY;
  for (const batch of batches) {
    const { view, dispatched, waiting } = batch;
    const open = openCount(view.counts);
    sums.requests += view.requests;
    sums.dead += reading.unsettled.openDead(view);
    sums.doubts += view.counts.doubt ?? 0;
    for (const { why, orders } of waiting) whys.set(why, (whys.get(why) ?? 0) + orders);
    for (const session of lostSessions(waiting)) lost.add(session);
    if (isOver(view)) continue;
    sums.queued += dispatched;
    states.set(view.state, (states.get(view.state) ?? 0) + 1);
    if (open > 0) oldest = Math.min(oldest, view.manifest.createdAt);
    if (!isForWorkers(batch)) continue;
    sums.waiting += open;
    sums.needsWorkers = true;
  }
  return {
    ...sums,
    realm: batches[0]?.view.manifest.realm ?? '',
    oldestUnsettled: Number.isFinite(oldest) ? oldest : null,
    unsettledMark: unsettledMark(batches),
    states,
    whys,
    lost,
  };
}

/** What a batch that is over counts as its version moves only when somebody deals with its orders; others move always. */
function unsettledMark(batches: readonly SeenBatch[]): string {
  const waiting = batches.filter(
    ({ view }) => reading.unsettled.openDead(view) > 0 || (view.counts.doubt ?? 0) > 0,
  );
  const facts = waiting.map(({ ref, view }) => [
    ref.no,
    reading.unsettled.openDead(view),
    isOver(view) && view.version,
    ...(['refused', 'exhausted', 'doubt'] as const).map((state) => [
      view.counts[state],
      String(view.sums[state]),
    ]),
  ]);
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 12);
}

/** Whether its orders would be sent if only a worker ran. */
function isForWorkers({ view }: SeenBatch): boolean {
  return view.owner === '' && !isOver(view) && view.whyNot.every((why) => why === 'start-time');
}
