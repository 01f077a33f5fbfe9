import {
  accountOf,
  CONTENT_DIGEST_CHARACTERS,
  REFERENCE_HASH_BYTES,
  referenceHash,
} from '../core/reference.js';
import type { PlanRow } from './plan-block.js';

/** Where a reference stands in the store: see core/reference. */
export function referenceKey(reference: string): { readonly shard: string; readonly fieldHex: string } {
  const packed = referenceHash(reference);
  return { shard: packed.slice(0, 4), fieldHex: Buffer.from(packed.slice(4), 'latin1').toString('hex') };
}

export function ownReference({ reference }: Pick<PlanRow, 'reference'>) {
  return reference === null ? null : referenceKey(reference);
}

/** What the undo of an order gives back: its reference, and what it holds of its rule's account. */
export function undoneBy(
  row: Pick<PlanRow, 'reference'>,
  no: string,
  index: number,
): NonNullable<PlanRow['undoes']> {
  const { shard = '', fieldHex = '' } = ownReference(row) ?? {};
  return { shard, fieldHex, no, index: String(index), account: accountOf(row) ?? undefined };
}

/** Bytes of a packed row: where in its block it stands, its reference's hash and its content's digest. */
export const REF_BYTES = 1 + REFERENCE_HASH_BYTES + CONTENT_DIGEST_CHARACTERS;

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
