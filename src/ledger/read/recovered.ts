import type { BatchId } from '../../core/ids.js';
import { batchKeys } from '../keys.js';
import { decodeRow, type PlanRow } from '../plan-block.js';
import { askRealm, batchFacts, type RealmLedger } from '../realm-ledger.js';
import { batchesIn } from './batch-lists.js';
import { batchNumber } from './batches.js';

/** Batches of which the store knows no more than journals told it (see includes/recovered.lua). */
export type RecoveredBatch = {
  readonly no: string;
  readonly id: BatchId;
  /** What its orders were sent in; null: the realm's own. */
  readonly currency: string | null;
  /** A person has accepted that more may have been sent of it than is known. */
  readonly incomplete: boolean;
  readonly rows: ReadonlyMap<number, PlanRow>;
};

/** The recovered batch with this id, where the rest of it may still be imported; null where there is none. */
export async function recoveredBatch(ledger: RealmLedger, id: BatchId): Promise<RecoveredBatch | null> {
  const facts = await recoveredFacts(ledger, id);
  if (facts === null || isClosed(facts)) return null;
  const { no, currency, incomplete } = facts;
  const found = await askRealm(ledger, 'read rows', (redis, T) =>
    redis.hgetall(batchKeys(T, no).recoveredRows),
  );
  const rows = new Map(Object.entries(found).map(([index, row]) => [Number(index), decodeRow(row)]));
  return { no, id, currency, incomplete, rows };
}

/** A recovered batch that was archived or cancelled: the rest of it can be no part of it any more. */
export type ClosedRecovered = Pick<RecoveredBatch, 'no' | 'id'> & { readonly state: string };

export async function closedRecovered(ledger: RealmLedger, id: BatchId): Promise<ClosedRecovered | null> {
  const facts = await recoveredFacts(ledger, id);
  return facts === null || !isClosed(facts) ? null : { no: facts.no, id, state: facts.state };
}

async function recoveredFacts(ledger: RealmLedger, id: BatchId) {
  const no = await batchNumber(ledger, id);
  if (no === null) return null;
  const [recovered, state, incomplete, currency] = await batchFacts(
    { ledger, no },
    'recovered',
    'state',
    'incomplete',
    'currency',
  );
  if (recovered !== '1') return null;
  return { no, state: state ?? '', incomplete: incomplete === '1', currency: currency || null };
}

function isClosed({ state }: { readonly state: string }): boolean {
  return state === 'archived' || state === 'cancelled';
}

/** All of them, for people. */
export async function recoveredBatches(
  ledger: RealmLedger,
): Promise<{ batch: BatchId; orders: number; incomplete: boolean }[]> {
  const found = await Promise.all(
    (await batchesIn(ledger, 'recovered')).map(async ({ no, id }) => {
      const [incomplete] = await batchFacts({ ledger, no }, 'incomplete');
      return { batch: id, orders: await recoveredCount(ledger, no), incomplete: incomplete === '1' };
    }),
  );
  return found;
}

/** How many orders of the batch were recovered; 0 for any other batch. */
export function recoveredCount(ledger: RealmLedger, no: string): Promise<number> {
  return askRealm(ledger, 'count rows', (redis, T) => redis.hlen(batchKeys(T, no).recoveredRows));
}

/** When a person accepted last that the store has forgotten more than the journals know; null where nobody did. */
export async function lossAcceptedAt(ledger: RealmLedger): Promise<number | null> {
  const at = await askRealm(ledger, 'read loss', (redis, T) => redis.hget(T, 'gap'));
  return at === null ? null : Number(at);
}
