import { membersOf, type Order } from '../../core/order.js';
import { contentDigest } from '../../core/reference.js';
import type { Terms } from '../../core/terms.js';
import { batchKeys, PLAN_BLOCK_ROWS } from '../keys.js';
import { encodeEvent } from '../order-event.js';
import type { RealmLedger } from '../realm-ledger.js';
import { referenceKey } from '../reference.js';
import { texts } from '../script-client.js';
import type { PlanReader } from './put-block.js';

type GivingUp = {
  readonly ledger: RealmLedger;
  readonly plans: PlanReader;
  readonly termsOf: (no: string) => Promise<Terms>;
};

/**
 * Every order of the batch that is planned, waiting, unknown, a dead letter that may be retried, or being sent by that
 * session becomes a doubt.
 */
export async function giveUpBatch(
  { ledger, plans, termsOf }: GivingUp,
  no: string,
  why: { readonly session: string; readonly message: string; readonly at: number },
): Promise<{ orders: number; tokens: bigint }> {
  const { redis } = ledger.scripts;
  const rows = Number(
    await ledger.scripts.retryWhileAway('read batch', () =>
      redis.hget(batchKeys(ledger.keyPrefix, no).meta, 'rows'),
    ),
  );
  const detail = encodeEvent({
    event: 'concluded',
    at: why.at,
    state: 'doubt',
    by: 'recovery',
    code: 'ALM_SEND_OWNER_DIED',
    message: why.message,
  });
  const { certainty } = await termsOf(no);
  let [orders, tokens] = [0, 0n];
  for (let block = 0; block * PLAN_BLOCK_ROWS < rows; block++) {
    const list = (await plans.block(no, block)).flatMap((row, offset) =>
      row.order === null || row.duplicateOf !== null
        ? []
        : [
            block * PLAN_BLOCK_ROWS + offset + 1,
            row.order.tokens,
            // Nobody can speak for what may have been sent to them.
            certainty === 'readback' ? membersOf(row.order).join(' ') : '',
            referenceOf(row.reference, row.order),
          ],
    );
    if (list.length === 0) continue;
    const [count = '0', sum = '0'] = texts(
      await ledger.scripts.script('give-up', ledger.keyPrefix, [no, why.session, detail, ...list]),
    );
    orders += Number(count);
    tokens += BigInt(sum);
  }
  return { orders, tokens };
}

function referenceOf(reference: string | null, order: Order): string {
  if (reference === null) return '';
  const { shard, field } = referenceKey(reference);
  return `${shard}:${field.toString('hex')}:${contentDigest(order)}`;
}
