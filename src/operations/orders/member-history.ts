import type { MemberId } from '../../core/ids.js';
import { type BatchRef, lists, type Manifest, type RowView, type ScriptClient } from '../../ledger/index.js';
import { isoTime } from '../../words/spelling.js';
import { rowsOfAll, type SealedBatch, scanBatches, sealedBatches, wantMember } from '../orders/scan-rows.js';

export type HistoryEntry = ReturnType<typeof entryOf>;

export type Scanned = { readonly rows: number; readonly ofRows: number };

/** Every order that ever touched a member, over all realms of the store, newest last. */
export async function memberHistory(
  scripts: ScriptClient,
  member: MemberId,
  options: {
    readonly realm?: string | undefined;
    /** Only the books of this one realm, by their key: a name or id may occur at two base URLs. */
    readonly ledger?: string;
    readonly since: number | null;
    readonly onScanned: (scanned: Scanned) => void;
  },
): Promise<HistoryEntry[]> {
  const { since, ledger, onScanned } = options;
  const isMeant = ({ ref, view: { finishedAt } }: SealedBatch) =>
    (ledger ?? ref.ledger.id) === ref.ledger.id && (finishedAt ?? Number.POSITIVE_INFINITY) >= (since ?? 0);
  const manifests = new Map<string, Manifest>();
  const wanted = wantMember(member);
  const ofRows = await rowsOfAll(scripts, options.realm);
  const wantedOf = (batch: SealedBatch) => {
    if (!isMeant(batch)) return null;
    manifests.set(lists.placeOf(batch.ref), batch.view.manifest);
    return wanted;
  };
  const { found } = await scanBatches(sealedBatches(scripts, { realm: options.realm }), wantedOf, {
    from: null,
    limit: Number.POSITIVE_INFINITY,
    untilMs: Number.POSITIVE_INFINITY,
    onScanned: (rows) => onScanned({ rows, ofRows }),
  });
  return found
    .flatMap(({ ref, row }) => {
      const made = manifests.get(lists.placeOf(ref));
      const at = row.sentAt ?? made?.createdAt ?? 0;
      return made !== undefined && (since === null || at >= since)
        ? [entryOf(ref, row, member, { at, made })]
        : [];
    })
    .reverse()
    .sort((a, b) => a.at.localeCompare(b.at));
}

function entryOf(
  { id, ledger: { realm } }: BatchRef,
  row: RowView,
  member: MemberId,
  { at, made }: { readonly at: number; readonly made: Manifest },
) {
  const { source, currency } = made;
  const role = row.member === member ? ('member' as const) : ('recipient' as const);
  return {
    /** When it was sent, or when its batch was made. */
    at: isoTime(at),
    realm: realm.name,
    rehearsal: realm.rehearsal,
    currency,
    batch: id,
    source,
    order: row.order,
    line: row.line,
    op: row.op,
    tokens: row.tokens,
    role,
    /** The other side of a transfer. */
    counterpart: role === 'member' ? row.recipient : row.member,
    reason: row.reason,
    reference: row.reference,
    state: row.state,
    marks: row.marks,
    balanceAfter: role === 'member' ? row.balanceAfter : null,
  };
}
