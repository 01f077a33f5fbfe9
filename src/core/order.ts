import type { MemberId } from './ids.js';
import type { Tokens } from './points.js';

export const OPS = ['credit', 'debit', 'transfer'] as const;
export type Op = (typeof OPS)[number];

/** One intended change. This content is hashed, compared and sent, so the type holds no other field. */
export type Order =
  | {
      readonly op: 'credit' | 'debit';
      readonly member: MemberId;
      readonly recipient: null;
      readonly tokens: Tokens;
    }
  | {
      readonly op: 'transfer';
      readonly member: MemberId;
      readonly recipient: MemberId;
      readonly tokens: Tokens;
    };

/** The signed amount of a balance change as the realm expects it: positive adds, negative subtracts. */
export function signedTokens(order: Order): number {
  return order.op === 'debit' ? -order.tokens : order.tokens;
}

/** Writes an order's content in its only spelling: equal text means equal order. */
export function contentOf(order: Order): string {
  return `${order.op} ${order.member} ${order.recipient ?? ''} ${order.tokens}`;
}

/** The members whose balance the order changes; the giver comes first. */
export function membersOf(order: Order): readonly MemberId[] {
  return order.recipient === null ? [order.member] : [order.member, order.recipient];
}

/** The order that undoes this one. */
export function inverseOf(order: Order): Order {
  if (order.op === 'transfer') return { ...order, member: order.recipient, recipient: order.member };
  return { ...order, op: order.op === 'credit' ? 'debit' : 'credit' };
}

/** By how much the order changes each member's balance. */
export function effectsOf(order: Order): readonly { readonly member: MemberId; readonly delta: bigint }[] {
  const delta = BigInt(signedTokens(order));
  if (order.op !== 'transfer') return [{ member: order.member, delta }];
  return [
    { member: order.member, delta: -delta },
    { member: order.recipient, delta },
  ];
}
