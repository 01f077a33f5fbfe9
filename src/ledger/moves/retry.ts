import { type BatchId, batchId, namedOrder, orderId } from '../../core/ids.js';
import type { PaidBefore } from '../../core/paid-before.js';
import type { Requirement } from '../../core/people.js';
import { contentDigest } from '../../core/reference.js';
import { overLimitText, parseOverLimit } from '../accounts.js';
import { amountText } from '../amount.js';
import { batchKeys } from '../keys.js';
import { encodeEvent } from '../order-event.js';
import type { PlannedOrder } from '../plan-block.js';
import { batchNumber } from '../read/batches.js';
import { askScript, type BatchRef, batchFacts, type RealmLedger } from '../realm-ledger.js';
import { isStateCode, STATE_CODES } from '../record.js';
import { parseHolder, referenceKey } from '../reference.js';
import { listFromLua } from '../script-client.js';
import type { AuditEntry } from '../views.js';
import { limitArguments } from './approvals.js';

/** What a person does to dead letters. A doubt is touched by neither of these. */

/** `against`: it was, or may be, paid before. */
export type Refusal = { readonly why: string; readonly against?: PaidBefore };

export type RetriedBy = {
  readonly who: string;
  readonly why: string | null;
  readonly at: number;
  readonly nonce: string;
  /** The store for which the journals were merged before (`judgedAt`); empty where nobody did. */
  readonly store?: string;
  /** What their profile lets one person pay alone. */
  readonly limits?: Requirement;
  /** By their token; null where none was used. */
  readonly person?: string | null;
  /** The realm's numbers when other batches and addresses were looked at (see judged-again); null where none was. */
  readonly judged?: string | null;
};

export async function retryOrder(
  ref: BatchRef,
  index: number,
  row: PlannedOrder,
  by: RetriedBy,
): Promise<'ok' | 'moved' | Refusal> {
  const key = row.reference === null ? null : referenceKey(row.reference);
  const [status, why = '', more = ''] = await askScript(ref.ledger, 'retry', [
    ref.no,
    index,
    amountText(row),
    encodeEvent({ event: 'retried', at: by.at, who: by.who, why: by.why }, by.nonce),
    key?.shard ?? '',
    key?.fieldHex ?? '',
    contentDigest(row.order),
    by.judged ?? '',
    ref.id,
    by.store ?? '',
    ...limitArguments(by.limits),
    by.person ?? '',
  ]);
  if (status === 'ok') return 'ok';
  if (why === 'moved') return why;
  const against = await paidBefore(ref, index, why, more);
  return against === null ? { why: deadRefusal(why, more) } : { why: against.message, against };
}

/** What stands against a retry as a payment that was made, or may be; null where the script says something else. */
async function paidBefore(
  { ledger, id }: BatchRef,
  index: number,
  why: string,
  more: string,
): Promise<PaidBefore | null> {
  switch (why) {
    case 'replaced': {
      const batch = batchId(more);
      const no = await batchNumber(ledger, batch);
      const file = no === null ? { batch, unfinished: false } : await standIn(ledger, no);
      return { order: null, code: 'ALM_ROW_ORDER_REPLACED', message: standInText(file) };
    }
    case 'arriving': {
      const message = `it was resolved as unpaid while its request may still arrive; retry it after ${new Date(Number(more)).toISOString()}`;
      return { order: orderId(id, index), code: 'ALM_ROW_ORDER_MAY_BE_PAID', message };
    }
    case 'debt': {
      const message = `${more.startsWith('@') ? 'another payment' : `order ${more}`} was made for the same debt, may have been, or waits to be sent`;
      return { order: namedOrder(more), code: 'ALM_ORDER_MAYBE_PAID', message };
    }
    case 'reference': {
      const { no, index: at } = parseHolder(more);
      const [holder] = await batchFacts({ ledger, no }, 'id');
      const order = holder == null ? null : orderId(batchId(holder), at);
      return {
        order,
        code: 'ALM_SEND_REFERENCE_HELD',
        message: 'its reference was spent again by another order',
      };
    }
    default:
      return null;
  }
}

/** Why a dead letter is neither retried nor discarded. */
function deadRefusal(why: string, more: string): string {
  if (why === 'limit')
    return `${overLimitText(parseOverLimit(listFromLua(more)))}; with a higher limit the next run of the rule pays it`;
  return DEAD_REFUSALS[why] ?? (isStateCode(why) ? `it is ${STATE_CODES[why]}, not a dead letter` : why);
}

const DEAD_REFUSALS: Readonly<Record<string, string>> = {
  gone: 'its batch is not in the store any more',
  discarded: 'it was discarded',
  cancelled: 'its batch is cancelled; put the row into a new file',
  archived: 'its batch is archived; put the row into a new file',
  approval: 'it needs an approval, which another person gives with `almoner approve` for its batch',
  disarmed:
    'the store was restarted or restored and the journals are not merged, so that what was paid since cannot be told; run `almoner recover`',
  D: 'it is in doubt; resolve it first with `almoner doubt resolve`',
};

export async function discardOrder(
  ref: BatchRef,
  index: number,
  by: { who: string; why: string; at: number },
): Promise<'ok' | Refusal> {
  const [status, code = ''] = await askScript(ref.ledger, 'discard', [
    ref.no,
    index,
    encodeEvent({ event: 'discarded', at: by.at, who: by.who, why: by.why }),
    ref.id,
  ]);
  if (status === 'ok') return 'ok';
  return { why: deadRefusal(code, '') };
}

export async function writeAudit(ref: BatchRef, entry: AuditEntry): Promise<void> {
  const key = batchKeys(ref.ledger.keyPrefix, ref.no).audit;
  await ref.ledger.scripts.ask('write audit', (redis) => redis.rpush(key, JSON.stringify(entry)));
}

/** The file that a dead letter's row was put into. Of an import that was never sealed nothing is ever paid. */
type StandIn = {
  readonly batch: BatchId;
  readonly unfinished: boolean;
  readonly cancelled: boolean;
};

export async function standIn(ledger: RealmLedger, no: string): Promise<StandIn> {
  const [id, state] = await batchFacts({ ledger, no }, 'id', 'state');
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
