import { hash } from 'node:crypto';
import type { Order } from './order.js';
import { textOf } from './visible.js';

/** What a wallet or a handle is compared by. */
export function keyOf(cell: string): string {
  return textOf(cell.trim()).trim().normalize('NFC').replace(/^@/, '').toLowerCase();
}

/** The content of an order before a table of members was asked: with another table it is the same debt. */
export function originHash({ op, tokens }: Order, member: string, recipient: string): string {
  return hash('sha256', JSON.stringify([op, keyOf(member), keyOf(recipient), tokens]), 'binary');
}
