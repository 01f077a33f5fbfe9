import { hash } from 'node:crypto';
import type { Order } from './order.js';
import { textOf } from './visible.js';

/** Normalizes a wallet address or handle, so that two spellings of the same one compare equal. */
export function keyOf(cell: string): string {
  return textOf(cell.trim()).trim().normalize('NFC').replace(/^@/, '').toLowerCase();
}

/**
 * Hashes an order's content before its wallets or handles are replaced by member ids. A file that is run again with
 * another member table is then still recognized as the same debt.
 */
export function originHash({ op, tokens }: Order, member: string, recipient: string): string {
  return hash('sha256', JSON.stringify([op, keyOf(member), keyOf(recipient), tokens]), 'binary');
}
