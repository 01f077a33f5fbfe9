import { referenceHash } from '../core/reference.js';

/** Where a reference stands in the store: see core/reference. */
export type ReferenceKey = { readonly shard: string; readonly field: Buffer };

export function referenceKey(reference: string): ReferenceKey {
  const packed = referenceHash(reference);
  return { shard: packed.slice(0, 4), field: Buffer.from(packed.slice(4), 'latin1') };
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
