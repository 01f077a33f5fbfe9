import type { Op } from '../core/order.js';
import type { PlannedOrder } from './plan-block.js';

/** The most that a label of the running totals may take, in bytes of UTF-8. */
const LABEL_BYTES = 48;
/** Stands for the rule where a file was paid. No rule has such a name. */
export const FILE_LABEL = '(file)';
export const OP_LETTER = { credit: 'c', debit: 'd', transfer: 't' } as const satisfies Record<Op, string>;

/** An order's amount as the scripts take it: '<tokens> <op> <reason>' (see includes/totals.lua). */
export function amountText({ order, reason }: Pick<PlannedOrder, 'order' | 'reason'>): string {
  return `${order.tokens} ${OP_LETTER[order.op]} ${labelText(reason ?? '')}`;
}

/** Cut where a character ends. */
function labelText(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= LABEL_BYTES) return bytes.toString();
  let end = LABEL_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
