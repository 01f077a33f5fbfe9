/**
 * Identifiers. Member ids stay text with their exact digits: usual chat ids have 17 to 19 digits, and a JavaScript
 * number would round them.
 */

declare const memberBrand: unique symbol;
declare const batchBrand: unique symbol;
declare const orderBrand: unique symbol;

export type MemberId = string & { readonly [memberBrand]: true };
export type BatchId = string & { readonly [batchBrand]: true };
/** `<batch>-<index>`; the index counts the batch's rows from 1. */
export type OrderId = string & { readonly [orderBrand]: true };

const MEMBER_ID_DIGITS_MAX = 20;
/**
 * Leading zeros are refused: a JSON integer cannot hold one, so a realm that reads numbers would take 007 for member
 * 7. A single 0 is a valid id.
 */
export const MEMBER_ID = /^(?:0|[1-9][0-9]{0,19})$/;
export const MEMBER_ID_EXPECTED = `1 to ${MEMBER_ID_DIGITS_MAX} decimal digits without a leading zero`;
const RECORDED_MEMBER_ID = /^[0-9]{1,20}$/;
const BATCH_ID = /^[a-z0-9][a-z0-9._-]{2,63}$/;

export function isMemberId(text: string): text is MemberId {
  return MEMBER_ID.test(text);
}

export function memberId(text: string): MemberId {
  if (!isMemberId(text)) throw new RangeError(`expected a member id of ${MEMBER_ID_EXPECTED}`);
  return text;
}

/**
 * True for ids that a ledger may already hold. Orders were stored with leading zeros before those were refused. Use
 * it for reading only.
 */
export function isRecordedMemberId(text: string): text is MemberId {
  return RECORDED_MEMBER_ID.test(text);
}

export function hasLeadingZero(text: string): boolean {
  return /^0[0-9]+$/.test(text);
}

/** A batch id is also a folder name under reports/, so it has no separators, no leading dot and no `..`. */
export function isBatchId(text: string): text is BatchId {
  return BATCH_ID.test(text) && !text.includes('..');
}

export function batchId(text: string): BatchId {
  if (!isBatchId(text)) throw new RangeError(`not a batch id: ${JSON.stringify(text)}`);
  return text;
}

export function orderId(batch: BatchId, index: number): OrderId {
  return `${batch}-${index}` as OrderId;
}

/** The reference of the order that undoes this one. References are unique, so an order is undone at most once. */
export function undoReference(order: OrderId): string {
  return `${UNDO}${order}`;
}

export const UNDO = 'undo:';
/** Splits an order id into its batch and row number; undefined if the text is no order id. */

export function parseOrderId(text: string): { batch: BatchId; index: number } | undefined {
  const match = /^(.+)-([1-9][0-9]{0,8})$/.exec(text);
  const batch = match?.[1];
  if (batch === undefined || !isBatchId(batch)) return undefined;
  return { batch, index: Number(match?.[2]) };
}

/** The same as an id again; null where the text is none. */
export function namedOrder(text: string): OrderId | null {
  const named = parseOrderId(text);
  return named === undefined ? null : orderId(named.batch, named.index);
}
