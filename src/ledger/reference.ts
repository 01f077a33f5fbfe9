import { createHash } from 'node:crypto';
import { contentOf, type Order } from '../core/order.js';

/** References are kept hashed: 16 bits choose the shard (a small hash), 80 bits name the entry in it. */
export type ReferenceKey = { readonly shard: string; readonly field: Buffer };

export function referenceKey(reference: string): ReferenceKey {
  const hash = createHash('sha256').update(reference).digest();
  return { shard: hash.subarray(0, 2).toString('hex'), field: hash.subarray(2, 12) };
}

/** Tells "the same reference with the same content" from "with other content", also after archiving. */
export function contentDigest(order: Order): string {
  return createHash('sha256').update(contentOf(order)).digest('base64url').slice(0, 6);
}

export type ReferenceHolder = { readonly digest: string; readonly no: string; readonly index: number };

export function parseHolder(entry: string): ReferenceHolder {
  const [digest = '', no = '', index = ''] = entry.split(':');
  return { digest, no, index: Number(index) };
}
