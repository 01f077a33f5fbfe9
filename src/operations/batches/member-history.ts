import type { MemberId } from '../../core/ids.js';
import {
  type BatchRef,
  everyBatch,
  ordersTouching,
  type RowView,
  readBatch,
  readRow,
  type ScriptClient,
} from '../../ledger/index.js';
import { isoTime } from '../../words/spelling.js';
import { contextOf } from './find-orders.js';

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
  const { since } = options;
  const refs = (await everyBatch(scripts, options.realm)).filter(
    ({ ledger }) => options.ledger === undefined || ledger.id === options.ledger,
  );
  const batches = await toScan(refs, since);
  const ofRows = batches.reduce((sum, { rows }) => sum + rows, 0);
  const entries: HistoryEntry[] = [];
  let scanned = 0;
  for (const { ref, rows, createdAt, source } of batches) {
    const context = await contextOf(ref);
    const tell = (done: number) => options.onScanned({ rows: scanned + done, ofRows });
    for await (const index of ordersTouching(ref, rows, member, tell)) {
      const row = await readRow(context, index);
      const at = row.sentAt ?? createdAt;
      if (since === null || at >= since) entries.push(entryOf(ref, row, member, at, source));
    }
    scanned += rows;
  }
  return entries.sort((a, b) => a.at.localeCompare(b.at));
}

async function toScan(refs: readonly BatchRef[], since: number | null) {
  const found = await Promise.all(
    refs.map(async (ref) => {
      const view = await readBatch(ref);
      if (view === undefined) return [];
      if (since !== null && view.finishedAt !== null && view.finishedAt < since) return [];
      const { rows, createdAt, source } = view.manifest;
      return [{ ref, rows, createdAt, source }];
    }),
  );
  return found.flat();
}

function entryOf(
  { id, ledger: { realm } }: BatchRef,
  row: RowView,
  member: MemberId,
  at: number,
  source: string,
) {
  const role = row.member === member ? ('member' as const) : ('recipient' as const);
  return {
    /** When it was sent, or when its batch was made. */
    at: isoTime(at),
    realm: realm.name,
    rehearsal: realm.rehearsal,
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
