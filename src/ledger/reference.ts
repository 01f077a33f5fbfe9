import { hash } from 'node:crypto';
import { contentOf, type Order } from '../core/order.js';

/** References are kept hashed: 16 bits choose the shard (a small hash), 80 bits name the entry in it. */
export type ReferenceKey = { readonly shard: string; readonly field: Buffer };

export function referenceKey(reference: string): ReferenceKey {
  const packed = referenceHash(reference);
  return { shard: packed.slice(0, 4), field: Buffer.from(packed.slice(4), 'latin1') };
}

/** Four hex digits of the shard, ten bytes of the field. */
export const REFERENCE_HASH_BYTES = 14;

/**
 * Shard and entry in one, as a string of byte-sized characters. A million rows are hashed on their way in;
 * one-shot and as a string it takes a quarter of the time of a hash object and a Buffer.
 */
export function referenceHash(reference: string): string {
  const bytes = hash('sha256', reference, 'binary');
  return `${HEX[bytes.charCodeAt(0)]}${HEX[bytes.charCodeAt(1)]}${bytes.slice(2, 12)}`;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Tells "the same reference with the same content" from "with other content", also after archiving. */
export function contentDigest(order: Order): string {
  return contentHash(order).slice(0, CONTENT_DIGEST_CHARACTERS);
}

export const CONTENT_DIGEST_CHARACTERS = 6;

export function contentHash(order: Order): string {
  return hash('sha256', contentOf(order), 'base64url');
}

/** The first 64 bits of a content's hash; a batch's sketch holds the first word of each of its rows. */
export type ContentWords = readonly [number, number];

export function contentWords(hash: string): ContentWords {
  const bytes = Buffer.from(hash.slice(0, 11), 'base64url');
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4)];
}

/** Bytes of a row in its batch's sketch. */
export const SKETCH_ROW_BYTES = 4;

/** A row is hashed once, when it is read, and looked at many times. */
export type RowHashes = { readonly reference: string | null; readonly content: string };

export function hashRow(row: { readonly order: Order; readonly reference: string | null }): RowHashes {
  return {
    reference: row.reference === null ? null : referenceHash(row.reference),
    content: contentHash(row.order),
  };
}

export type ReferenceHolder = {
  readonly digest: string;
  readonly no: string;
  readonly index: number;
  /** The holder was called unpaid, and keeps the reference only while its request may still arrive. */
  readonly arrivesUntil: number | null;
};

export function parseHolder(entry: string): ReferenceHolder {
  const [digest = '', no = '', index = '', arrives] = entry.split(':');
  return { digest, no, index: Number(index), arrivesUntil: arrives === undefined ? null : Number(arrives) };
}
