import type { ErrorCode } from '../core/errors/catalogue.js';
import type { OrderId } from '../core/ids.js';
import { isStateCode, type RealmLedger, STATE_CODES, standIn } from '../ledger/index.js';

export type Denial = { readonly column: string; readonly code: ErrorCode; readonly message: string };

/** Why a row may not stand in for an earlier order, or undo it: the same words at the plan and at the put. */
export async function denial(
  ledger: RealmLedger,
  kind: 'replaces' | 'undoes',
  order: OrderId,
  why: string,
): Promise<Denial> {
  const state = isStateCode(why) ? STATE_CODES[why] : 'not in the books of this realm';
  if (kind === 'undoes')
    return {
      column: 'reference',
      code: 'ALM_ROW_UNDO_NOT_PAID',
      message: `Order ${order} is ${state}, so there is nothing to undo.`,
    };
  const denied = (code: ErrorCode, message: string) => ({ column: 'almoner_order', code, message });
  if (why === 'gone') return denied('ALM_ROW_ORDER_UNKNOWN', `Order ${order} is ${state}.`);
  if (why === 'archived')
    return denied(
      'ALM_ROW_ORDER_ARCHIVED',
      `Order ${order} is archived: nothing would keep a second file from standing in for it again.`,
    );
  if (why.startsWith('r')) {
    const { batch, unfinished, cancelled } = await standIn(ledger, why.slice(1));
    const way = unfinished
      ? ` That import has not finished; \`almoner cancel ${batch}\` gives it up.`
      : cancelled
        ? ' That batch was cancelled; what it did not send is in unprocessed.csv of its own report.'
        : '';
    return denied(
      'ALM_ROW_ORDER_REPLACED',
      `Order ${order} was already put into another file (batch ${batch}).${way}`,
    );
  }
  if (isStateCode(why))
    return denied(
      'ALM_ROW_ORDER_MAY_BE_PAID',
      `Order ${order} is ${state}: it was paid or may still be paid, so this row would pay it twice.`,
    );
  return denied(
    'ALM_ROW_ORDER_MAY_BE_PAID',
    `Order ${order} was resolved as unpaid, and its request may still arrive until ${isoTime(Number(why.slice(1)))}: this row would pay it twice. Run it after that.`,
  );
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
