import { parseOrderId, UNDO } from '../../core/ids.js';
import { membersOf } from '../../core/order.js';
import { accountOf } from '../../core/reference.js';
import { type Intent, orderOf } from '../journal/line.js';
import { encodeRow, type PlanRow } from '../plan-block.js';
import { askRealm, type RealmLedger } from '../realm-ledger.js';
import { encodeManifest, type Manifest } from '../views.js';

/** What a recovered batch keeps of an order: see includes/recovered.lua. */
export async function recoveredFacts(ledger: RealmLedger, intent: Intent) {
  const order = orderOf(intent);
  const undone = intent.undoes === null ? undefined : parseOrderId(undoneOf(intent) ?? '');
  // The order that it undoes may come back later.
  const no = undone === undefined ? null : ((await numberOf(ledger, undone.batch)) ?? `@${undone.batch}`);
  const undoes =
    undone === undefined || no === null || intent.undoes === null
      ? null
      : { ...intent.undoes, no, index: String(undone.index) };
  return {
    undoes: undoes && [undoes.shard, undoes.fieldHex, undoes.no, undoes.index, undoes.account],
    order: {
      op: intent.op,
      row: encodeRow(rowOf(intent, undoes)),
      members: membersOf(order),
      account: accountOf(intent),
      replaces: intent.replaces,
      sentAt: intent.firstSentAt,
      manifest: encodeManifest(manifestOf(ledger, intent)),
    },
  };
}

/** Numbers are the store's, and another one may have given them to other batches. */
function numberOf(ledger: RealmLedger, batch: string): Promise<string | null> {
  return askRealm(ledger, 'find batch', (redis, T) => redis.hget(`${T}:batches`, batch));
}

function undoneOf({ reference }: Intent): string | null {
  return reference?.startsWith(UNDO) ? reference.slice(UNDO.length) : null;
}

const HEADER = ['op', 'member', 'recipient', 'tokens', 'reference'];
/** Behind them where members came from a table: the cells that were looked up in it. */
const LOOKED_UP = ['member in the file', 'recipient in the file'];

function rowOf(intent: Intent, undoes: PlanRow['undoes']): PlanRow {
  const { line, op, member, recipient, tokens, reference, lookedUp = [] } = intent;
  return {
    line,
    order: orderOf(intent),
    reference,
    reason: null,
    replaces: intent.replaces,
    cells: [op, member, recipient ?? '', String(tokens), reference ?? '', ...lookedUp],
    fault: null,
    duplicateOf: null,
    undoes,
  };
}

/** As far as one order tells; what follows from all of them is counted as they come (see readBatch). */
function manifestOf({ realm }: RealmLedger, intent: Intent): Manifest {
  return {
    batch: intent.batch,
    realm: realm.name,
    realmId: realm.realmId,
    baseUrl: realm.baseUrl,
    rehearsal: realm.rehearsal,
    certainty: intent.certainty,
    currency: intent.currency,
    keyLifetimeMs: intent.keyLifetimeMs,
    source: RECOVERED_SOURCE,
    delimiter: ',',
    header: intent.lookedUp === undefined ? HEADER : [...HEADER, ...LOOKED_UP],
    rows: 0,
    orders: { credit: 0, debit: 0, transfer: 0 },
    tokens: { credit: 0n, debit: 0n, transfer: 0n },
    members: 0,
    duplicates: 0,
    invalid: 0,
    sha256: '',
    fileSha256: null,
    table: intent.lookedUp === undefined ? null : FORGOTTEN_TABLE,
    again: intent.again ?? null,
    columns: null,
    warnings: { count: 0, first: [] },
    inOrder: false,
    mode: 'import',
    sliceMs: SLICE_MS,
    createdAt: intent.firstSentAt,
    createdBy: 'almoner',
  };
}

const RECOVERED_SOURCE = 'recovered from journals';
/** Nobody knows which table it was, but only what was looked up in it. */
const FORGOTTEN_TABLE = {
  name: 'a table of members',
  sha256: '',
  member: HEADER.length,
  recipient: HEADER.length + 1,
};
const SLICE_MS = 60_000;
