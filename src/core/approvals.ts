import { createHash } from 'node:crypto';

/** Of what an approval can be asked for. */
export type ApprovalKind = 'batch' | 'retry' | 'rule';

/**
 * Hashes what an approver is shown, and an approval covers exactly that: the asking side, both faces of the approving side and
 * the ledger's scripts compare this hash. Fields are sorted, so that two ways to build the same document agree.
 */
export function approvalHash(kind: ApprovalKind, shown: Readonly<Record<string, unknown>>): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, shown], sorted))
    .digest('hex');
}

function sorted(_: string, part: unknown): unknown {
  if (typeof part === 'bigint') return String(part);
  if (part === null || typeof part !== 'object' || Array.isArray(part)) return part;
  return Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)));
}
