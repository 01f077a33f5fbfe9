import { type BatchId, batchId } from '../../core/ids.js';
import type { Order } from '../../core/order.js';
import { contentDigest } from '../../core/reference.js';
import { overLimitText, parseOverLimit } from '../accounts.js';
import { batchKeys } from '../keys.js';
import { encodeEvent } from '../order-event.js';
import type { PlanRow } from '../plan-block.js';
import { type BatchRef, batchNumber } from '../read/batches.js';
import type { RealmLedger } from '../realm-ledger.js';
import { isStateCode, STATE_CODES } from '../record.js';
import { referenceKey } from '../reference.js';
import { listFromLua, texts } from '../script-client.js';
import type { AuditEntry } from '../views.js';
import { standIn, standInText } from './stand-in.js';

/** What a person does to dead letters. A doubt is touched by neither of these. */

export type Refusal = { readonly why: string };

export type RetriedBy = {
  readonly who: string;
  readonly why: string | null;
  readonly at: number;
  readonly nonce: string;
};

export async function retryOrder(
  ref: BatchRef,
  index: number,
  row: PlanRow & { readonly order: Order },
  by: RetriedBy,
  /** The realm's numbers when other batches and addresses were looked at (see judged-again); null where nobody did. */
  judged: string | null = null,
): Promise<'ok' | 'moved' | Refusal> {
  const key = row.reference === null ? null : referenceKey(row.reference);
  const [status, why = '', more = ''] = texts(
    await ref.ledger.scripts.script('retry', ref.ledger.keyPrefix, [
      ref.no,
      index,
      row.order.tokens,
      encodeEvent({ event: 'retried', at: by.at, who: by.who, why: by.why }, by.nonce),
      key?.shard ?? '',
      key?.field.toString('hex') ?? '',
      contentDigest(row.order),
      judged ?? '',
    ]),
  );
  if (status === 'ok') return 'ok';
  if (why === 'replaced') return { why: await replacedBy(ref.ledger, batchId(more)) };
  return why === 'moved' ? why : { why: retryRefusal(why, more) };
}

async function replacedBy(ledger: RealmLedger, batch: BatchId): Promise<string> {
  const no = await batchNumber(ledger, batch);
  return standInText(no === null ? { batch, unfinished: false } : await standIn(ledger, no));
}

function retryRefusal(why: string, more: string): string {
  switch (why) {
    case 'discarded':
      return 'it was discarded';
    case 'reference':
      return 'its reference was spent again by another order';
    case 'cancelled':
      return 'its batch is cancelled; put the row into a new file';
    case 'archived':
      return 'its batch is archived; put the row into a new file';
    case 'disarmed':
      return 'the store was restarted or restored and the journals are not merged, so that what was paid since cannot be told; run `almoner recover`';
    case 'arriving':
      return `it was resolved as unpaid while its request may still arrive; retry it after ${new Date(Number(more)).toISOString()}`;
    case 'limit':
      return `${overLimitText(parseOverLimit(listFromLua(more)))}; with a higher limit the next run of the rule pays it`;
    case 'D':
      return 'it is in doubt; resolve it first with `almoner doubt resolve`';
    default:
      return isStateCode(why) ? `it is ${STATE_CODES[why]}, not a dead letter` : why;
  }
}

export async function discardOrder(
  ref: BatchRef,
  index: number,
  by: { who: string; why: string; at: number },
): Promise<'ok' | Refusal> {
  const [status, code = ''] = texts(
    await ref.ledger.scripts.script('discard', ref.ledger.keyPrefix, [
      ref.no,
      index,
      encodeEvent({ event: 'discarded', at: by.at, who: by.who, why: by.why }),
    ]),
  );
  if (status === 'ok') return 'ok';
  if (code === 'D') return { why: 'it is in doubt; resolve it first with `almoner doubt resolve`' };
  return { why: `it is ${isStateCode(code) ? STATE_CODES[code] : code}, not a dead letter` };
}

export async function writeAudit(ref: BatchRef, entry: AuditEntry): Promise<void> {
  const { redis } = ref.ledger.scripts;
  const key = batchKeys(ref.ledger.keyPrefix, ref.no).audit;
  await ref.ledger.scripts.retryWhileAway('write audit', () => redis.rpush(key, JSON.stringify(entry)));
}
