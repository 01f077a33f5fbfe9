import { hash } from 'node:crypto';
import { contentOf, type Order } from './order.js';

/**
 * Hashes a reference: 16 bits choose the shard (a small hash in the store), 80 bits name the field in it. Both come
 * in one string of byte-sized characters. Planning hashes a million rows, and the one-shot call to a string takes a
 * quarter of the time of a hash object and a Buffer.
 */
export function referenceHash(reference: string): string {
  const bytes = hash('sha256', reference, 'binary');
  return `${HEX[bytes.charCodeAt(0)]}${HEX[bytes.charCodeAt(1)]}${bytes.slice(2, 12)}`;
}

/** Four hex digits of the shard, ten bytes of the field. */
export const REFERENCE_HASH_BYTES = 14;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** The SHA-256 of an order's content, as a string of bytes. Callers cut their part out of it without a Buffer. */
export function contentHash(order: Order): string {
  return hash('sha256', contentOf(order), 'binary');
}

/** Tells "same reference, same content" from "same reference, other content", also after the batch is archived. */
export function contentDigest(order: Order): string {
  return digestOf(contentHash(order));
}

/** The first 36 bits of a content's hash, in base64url. */
export function digestOf(hash: string): string {
  const high = (hash.charCodeAt(0) << 16) | (hash.charCodeAt(1) << 8) | hash.charCodeAt(2);
  const low = (hash.charCodeAt(3) << 4) | (hash.charCodeAt(4) >> 4);
  return `${PAIRS[high >> 12]}${PAIRS[high & 0xfff]}${PAIRS[low]}`;
}

export const CONTENT_DIGEST_CHARACTERS = 6;

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** All pairs of letters: each encodes twelve bits. */
const PAIRS = Array.from(LETTERS, (first) => Array.from(LETTERS, (second) => first + second)).flat();

/** The first 64 bits of a content's hash; a batch's sketch holds the first word of each of its rows. */
export type ContentWords = readonly [number, number];

export function contentWords(hash: string): ContentWords {
  return [wordAt(hash, 0), wordAt(hash, 4)];
}

/** Reads four bytes as a little-endian word. */
function wordAt(bytes: string, at: number): number {
  const low = bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8);
  return (low | (bytes.charCodeAt(at + 2) << 16) | (bytes.charCodeAt(at + 3) << 24)) >>> 0;
}

/** Bytes per row in a batch's sketch. */
export const SKETCH_ROW_BYTES = 4;

/** The hashes of a row. Each row is hashed once when it is read, and compared many times. */
export type RowHashes = { readonly reference: string | null; readonly content: string };

export function hashRow(row: { readonly order: Order; readonly reference: string | null }): RowHashes {
  return {
    reference: row.reference === null ? null : referenceHash(row.reference),
    content: contentHash(row.order),
  };
}

/** The account of a rule in a period. It holds how much of the rule's limit its orders use. */
export function accountName(rule: string, period: string): string {
  return `${rule}:${period}`;
}

/** The reference of an award: one per rule, period and member, so an award is paid once. */
export function awardReference(rule: string, period: string, member: string): string {
  return `${RULE}${accountName(rule, period)}:${member}`;
}

const RULE = 'rule:';

/**
 * Accepts only periods in the spelling that runs use. A reference in another spelling would get an account of its
 * own.
 */
const AWARD =
  /^rule:([a-z0-9][a-z0-9-]{0,47}:(?:once|[0-9]{4}-(?:W(?:0[1-9]|[1-4][0-9]|5[0-3])|(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12][0-9]|3[01]))?))):([0-9]{1,20})$/;

/** Splits an award's reference into its account and its member. */
export function parseAward(reference: string): { account: string; member: string } | undefined {
  if (!reference.startsWith(RULE)) return undefined;
  const [, account, member] = AWARD.exec(reference) ?? [];
  return account === undefined || member === undefined ? undefined : { account, member };
}

/** The account that an order counts against; null if its reference is not an award's. */
export function accountOf({ reference }: { readonly reference: string | null }): string | null {
  return reference === null ? null : (parseAward(reference)?.account ?? null);
}
