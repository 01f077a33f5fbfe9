import { listPeriods } from '../read/totals.js';
import { type RealmLedger, storeNowMs } from '../realm-ledger.js';

/** Two years, with a leap day: as long as the running totals of single days are kept. */
const DAYS_KEPT = 731;
const DAY_MS = 24 * 3600_000;

/** Older days become part of their month. Answers with the days that did. */
export async function foldOldDays(ledger: RealmLedger): Promise<string[]> {
  const oldest = new Date((await storeNowMs(ledger)) - DAYS_KEPT * DAY_MS).toISOString().slice(0, DAY_LENGTH);
  const { sums, work } = await listPeriods(ledger);
  const days = new Set([...sums.map(({ period }) => period), ...work]);
  const old = [...days].filter((day) => day.length === DAY_LENGTH && day < oldest).sort();
  for (const day of old) await ledger.scripts.script('fold-day', ledger.keyPrefix, [day]);
  return old;
}

const DAY_LENGTH = 'YYYY-MM-DD'.length;
