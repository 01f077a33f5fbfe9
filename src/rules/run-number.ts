import { accountName } from '../ledger/accounts.js';
import type { RealmLedger } from '../ledger/realm-ledger.js';
import type { RunMeta } from './run-record.js';

/**
 * The number of a run in its rule and period, part of its batch's identity: who was refused, cancelled or undone is
 * paid by the next run, though its orders may be the very same. A run that has one keeps it; a schedule's is its
 * time; any other has a new one only after the batch before it is over, so that the same run given again meets its
 * own batch. The seal keeps it (see lua/seal-batch). Several batches may have one number, of which the last is asked
 * for here: where the orders meet another of them that is over, the next number is taken (see `batchOfRun`).
 */
export async function runNumber(
  ledger: RealmLedger,
  run: Pick<RunMeta, 'rule' | 'period' | 'scheduled' | 'at' | 'number' | 'batch'>,
): Promise<number | null> {
  // With a batch and without a number: made before runs were numbered.
  if (run.number !== null || run.batch !== null) return run.number;
  if (run.scheduled) return run.at;
  const { scripts, keyPrefix } = ledger;
  const account = accountName(run.rule, run.period);
  const last = await scripts.retryWhileAway('read number', () =>
    scripts.redis.hget(`${keyPrefix}:rules:numbers`, account),
  );
  if (last === null) return 1;
  const [number = '', no = ''] = last.split(' ');
  const open = await scripts.retryWhileAway('read batch', () =>
    scripts.redis.sismember(`${keyPrefix}:open`, no),
  );
  return Number(number) + (open === 1 ? 0 : 1);
}
