import { createHash } from 'node:crypto';

/** The kinds of request that may need an approval. */
export type ApprovalKind = 'batch' | 'retry' | 'rule';

/**
 * Hashes the document that an approver sees. An approval covers exactly this hash: the requesting side, both
 * approving faces (command line and desk) and the ledger's scripts compare it. Fields are sorted, so the order in
 * which a caller builds the document does not change the hash.
 */
export function approvalHash(kind: ApprovalKind, shown: Readonly<Record<string, unknown>>): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, shown], sorted))
    .digest('hex');
}
/** JSON replacer: sorts the keys of objects and writes a BigInt as a string, because JSON has no BigInt. */

function sorted(_: string, part: unknown): unknown {
  if (typeof part === 'bigint') return String(part);
  if (part === null || typeof part !== 'object' || Array.isArray(part)) return part;
  return Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)));
}
