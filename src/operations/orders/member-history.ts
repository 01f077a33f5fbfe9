import type { MemberId } from '../../core/ids.js';
import { type BatchRef, lists, type Manifest, type RowView, type ScriptClient } from '../../ledger/index.js';
import { isoTime } from '../../words/spelling.js';
import { rowsOfAll, type SealedBatch, scanBatches, sealedBatches, wantMember } from '../orders/scan-rows.js';
import type { HistoryEntry } from '../views/order.js';

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
): HistoryEntry {
  const { source, currency } = made;
  const { order, line, op, tokens, reason, reference, state, marks } = row;
  const role = row.member === member ? 'member' : 'recipient';
  return {
    at: isoTime(at),
    realm: realm.name,
    rehearsal: realm.rehearsal,
    batch: id,
    ...{ currency, source, order, line, op, tokens, role, reason, reference, state, marks },
    counterpart: role === 'member' ? row.recipient : row.member,
    balanceAfter: role === 'member' ? row.balanceAfter : null,
  };
}
