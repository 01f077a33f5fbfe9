import { membersOf } from '../../core/order.js';
import { contentDigest } from '../../core/reference.js';
import { amountText } from '../amount.js';
import { PLAN_BLOCK_ROWS } from '../keys.js';
import { encodeEvent } from '../order-event.js';
import { isPlannedOrder } from '../plan-block.js';
import { askScript, batchFacts } from '../realm-ledger.js';
import { ownReference } from '../reference.js';
import type { MergeContext } from './replay.js';

/** Every order of the batch that is planned, waiting, being sent, unknown or a dead letter that may be retried becomes a doubt. */
export async function giveUpBatch(
  { ledger, plans, termsOf }: MergeContext,
  no: string,
  why: { readonly message: string; readonly at: number },
): Promise<{ orders: number; tokens: bigint }> {
  const [rows] = await batchFacts({ ledger, no }, 'rows');
  const detail = encodeEvent({
    event: 'concluded',
    at: why.at,
    state: 'doubt',
    by: 'recovery',
    code: 'ALM_SEND_STORE_LOST',
    message: why.message,
  });
  const { certainty } = await termsOf(no);
  let [orders, tokens] = [0, 0n];
  for (let block = 0; block * PLAN_BLOCK_ROWS < Number(rows); block++) {
    const list = (await plans.block(no, block)).flatMap((row, offset) => {
      if (!isPlannedOrder(row)) return [];
      const reference = ownReference(row);
      return [
        block * PLAN_BLOCK_ROWS + offset + 1,
        amountText(row),
        // Nobody can speak for what may have been sent to them.
        certainty === 'readback' ? membersOf(row.order).join(' ') : '',
        reference === null ? '' : `${reference.shard}:${reference.fieldHex}:${contentDigest(row.order)}`,
      ];
    });
    if (list.length === 0) continue;
    const [count = '0', sum = '0'] = await askScript(ledger, 'give-up', [no, detail, ...list]);
    orders += Number(count);
    tokens += BigInt(sum);
  }
  return { orders, tokens };
}
