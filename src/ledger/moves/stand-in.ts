import { type BatchId, batchId } from '../../core/ids.js';
import { batchKeys } from '../keys.js';
import type { RealmLedger } from '../realm-ledger.js';

/** The file that a dead letter's row was put into. Of an import that was never sealed nothing is ever paid. */
export type StandIn = {
  readonly batch: BatchId;
  readonly unfinished: boolean;
  readonly cancelled: boolean;
};

export async function standIn({ scripts, keyPrefix }: RealmLedger, no: string): Promise<StandIn> {
  const [id, state] = await scripts.retryWhileAway('find batch', () =>
    scripts.redis.hmget(batchKeys(keyPrefix, no).meta, 'id', 'state'),
  );
  return {
    batch: batchId(id ?? 'unknown'),
    unfinished: state === 'importing',
    cancelled: state === 'cancelled',
  };
}

export function standInText({ batch, unfinished }: Pick<StandIn, 'batch' | 'unfinished'>): string {
  return unfinished
    ? `its row was put into another file (batch ${batch}), whose import has not finished, so that nothing pays it: import that file again, or give it up with \`almoner cancel ${batch}\``
    : `its row was put into another file: an order of batch ${batch} stands in for it, and only that one can be paid or retried (\`almoner status ${batch}\`)`;
}
