import { askRealm, type RealmLedger } from '../realm-ledger.js';

/** What the last recovery put back (includes/last-recovery.lua). */
export type RecoveryCounts = {
  /** The store had forgotten something; otherwise answers were put right that it had not been told yet. */
  readonly forgot: boolean;
  /** Since when the store had forgotten everything; null where that is not known. */
  readonly sinceMs: number | null;
  readonly orders: number;
  /** Of these, the orders whose outcome is not known. */
  readonly unknown: number;
  /** Of the unknown orders, those that became doubts at once. */
  readonly doubts: number;
  readonly batches: number;
  /** When the ledger opened again; null while it is closed. */
  readonly openedMs: number | null;
};

/** Null where the store never forgot anything, as far as it knows. */
export async function readRecovery(ledger: RealmLedger): Promise<RecoveryCounts | null> {
  const noted = await askRealm(ledger, 'read recovery', (redis, T) => redis.hgetall(`${T}:recovery`));
  if (Object.keys(noted).length === 0) return null;
  const { since, forgot, orders = 0, unknown = 0, doubts = 0, batches = 0, at } = noted;
  return {
    forgot: forgot === '1',
    sinceMs: since === undefined ? null : Number(since),
    orders: Number(orders),
    unknown: Number(unknown),
    doubts: Number(doubts),
    batches: Number(batches),
    openedMs: at === undefined ? null : Number(at),
  };
}
