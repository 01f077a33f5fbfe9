import type { RealmLedger } from '../realm-ledger.js';

/**
 * Batches of the workers that have ended and whose report is still to be written (includes/batches.lua): `<no>:<version>`,
 * so that one which was retried and has ended again meanwhile is not taken for reported.
 */
export type EndedBatch = { readonly entry: string; readonly no: string };

const keyOf = ({ keyPrefix }: RealmLedger) => `${keyPrefix}:reports`;

export async function endedBatches(ledger: RealmLedger): Promise<EndedBatch[]> {
  const found = await ledger.scripts.ask('list ended', (redis) => redis.smembers(keyOf(ledger)));
  return found.map((entry) => ({ entry, no: entry.split(':')[0] ?? '' }));
}

/** Whether nobody else is at it: two would only do the work twice, and who fails or dies is followed after that time. */
export async function takeReportTurn(ledger: RealmLedger, ended: EndedBatch, seconds: number) {
  const key = `${keyOf(ledger)}:${ended.entry}`;
  const taken = await ledger.scripts.ask('take a turn', (redis) => redis.set(key, '1', 'EX', seconds, 'NX'));
  return taken === 'OK';
}

export async function forgetEnded(ledger: RealmLedger, { entry }: EndedBatch): Promise<void> {
  await ledger.scripts.ask('note reported', (redis) => redis.srem(keyOf(ledger), entry));
}
