import type { MemberId } from './ids.js';
import type { Tokens } from './points.js';

export const OPS = ['credit', 'debit', 'transfer'] as const;
export type Op = (typeof OPS)[number];

/** One intended change. Its content is what is hashed, compared and sent; nothing else belongs here. */
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

/** What goes over the wire for a balance change: positive adds, negative subtracts. */
export function signedTokens(order: Order): number {
  return order.op === 'debit' ? -order.tokens : order.tokens;
}

/** The one spelling of an order's content: equal text means equal order. */
export function contentOf(order: Order): string {
  return `${order.op} ${order.member} ${order.recipient ?? ''} ${order.tokens}`;
}

/** The members whose balance the order moves, the giver first. */
export function membersOf(order: Order): readonly MemberId[] {
  return order.recipient === null ? [order.member] : [order.member, order.recipient];
}

/** The order that takes this one back. */
export function inverseOf(order: Order): Order {
  if (order.op === 'transfer') return { ...order, member: order.recipient, recipient: order.member };
  return { ...order, op: order.op === 'credit' ? 'debit' : 'credit' };
}

/** The amount by which the order moves each of its members. */
export function effectsOf(order: Order): readonly { readonly member: MemberId; readonly delta: bigint }[] {
  const delta = BigInt(signedTokens(order));
  if (order.op !== 'transfer') return [{ member: order.member, delta }];
  return [
    { member: order.member, delta: -delta },
    { member: order.recipient, delta },
  ];
}
