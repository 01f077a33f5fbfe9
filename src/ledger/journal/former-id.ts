import { type BatchId, batchId } from '../../core/ids.js';
import type { RealmLedger } from '../realm-ledger.js';
import type { JournaledAttempt } from './reader.js';

/**
 * Attempts of a batch that was sent by 0.1.0, whose ids left the currency out, that the store has forgotten,
 * and that was imported again under the id it has now. The key went out under the former id and cannot be
 * sent again: what came of such an attempt is known, or it is a doubt.
 */
export type FoundAttempt = JournaledAttempt & { readonly foundAs?: BatchId };

export async function foundByFormerId(
  ledger: RealmLedger,
  attempts: readonly JournaledAttempt[],
  numbers: Readonly<Record<string, string>>,
): Promise<readonly FoundAttempt[]> {
  if (attempts.every(({ intent }) => numbers[intent.batch] !== undefined)) return attempts;
  const { scripts, keyPrefix } = ledger;
  const formers = await scripts.retryWhileAway('list batches', () =>
    scripts.redis.hgetall(`${keyPrefix}:former`),
  );
  const ids = new Map(Object.entries(numbers).map(([id, no]) => [no, batchId(id)]));
  return attempts.map((attempt): FoundAttempt => {
    const { intent, result } = attempt;
    const foundAs = numbers[intent.batch] === undefined ? ids.get(formers[intent.batch] ?? '') : undefined;
    if (foundAs === undefined) return attempt;
    const definite = result === null ? null : { ...result, record: result.record.replace(/^u/, 'D') };
    return { ...attempt, result: definite, foundAs };
  });
}
