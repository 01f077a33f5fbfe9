import { type BatchId, parseOrderId } from '../../core/ids.js';
import {
  type BatchRef,
  type BlockClaims,
  batchKeys,
  batchNumber,
  blockClaims,
  decodePlanBlock,
  dropBatch,
  everyBatch,
  NO_CLAIMS,
  openBatch,
  PLAN_BLOCK_ROWS,
  type RealmLedger,
  type ScriptClient,
} from '../../ledger/index.js';

/**
 * Imports that were begun and never sealed. They hold references and marks, and nothing of them is ever sent.
 * Importing the same file again goes on with them; cancelling gives back what they hold.
 */
export type UnfinishedImport = {
  readonly batch: string;
  readonly realm: string;
  readonly rehearsal: boolean;
  readonly createdAt: string;
  /** Rows stored so far, rounded up to whole blocks. */
  readonly rowsStored: number;
};

type Begun = { readonly content: string; readonly blocks: number; readonly createdAt: number };

export async function unfinishedImports(scripts: ScriptClient, realm?: string): Promise<UnfinishedImport[]> {
  const found = await Promise.all(
    (await everyBatch(scripts, realm)).map(async (ref) => {
      const begun = await readUnfinished(ref);
      return begun === null ? [] : [describe(ref, begun)];
    }),
  );
  return found.flat();
}

export async function isUnfinished(ref: BatchRef): Promise<boolean> {
  return (await readUnfinished(ref)) !== null;
}

/** Gives back its references and marks and forgets it. An importer that still lives is shut out first. */
export async function releaseImport(ref: BatchRef, importer: string): Promise<UnfinishedImport | null> {
  const { ledger, no, id } = ref;
  const begun = await readUnfinished(ref);
  if (begun === null) return null;
  const { content, createdAt } = begun;
  const opened = await openBatch(ledger, { content, id, importer, createdAt });
  if (opened.status !== 'taken-over' || opened.no !== no) return null;
  // Read again: the importer may have stored another block before it was shut out.
  const { blocks } = (await readUnfinished(ref)) ?? begun;
  await dropBatch(ledger, { no, importer }, blocks, (block) => claimsOfStored(ledger, no, block));
  return describe(ref, begun);
}

async function readUnfinished(ref: BatchRef): Promise<Begun | null> {
  const { scripts, keyPrefix } = ref.ledger;
  const [state, content, blocks, createdAt] = await scripts.retryWhileAway('read batch', () =>
    scripts.redis.hmget(batchKeys(keyPrefix, ref.no).meta, 'state', 'content', 'blocks', 'createdAt'),
  );
  if (state !== 'importing') return null;
  return { content: content ?? '', blocks: Number(blocks ?? 0), createdAt: Number(createdAt ?? 0) };
}

async function claimsOfStored(ledger: RealmLedger, no: string, block: number): Promise<BlockClaims> {
  const { scripts, keyPrefix } = ledger;
  const bytes = await scripts.retryWhileAway('read plan', () =>
    scripts.redis.getBuffer(batchKeys(keyPrefix, no).plan(block)),
  );
  // A release that was itself interrupted has dropped the last blocks already.
  if (bytes === null) return NO_CLAIMS;
  const rows = decodePlanBlock(bytes);
  const numbers = new Map<BatchId, string>();
  for (const { replaces } of rows) {
    const old = replaces === null ? undefined : parseOrderId(replaces)?.batch;
    if (old === undefined || numbers.has(old)) continue;
    const found = await batchNumber(ledger, old);
    if (found !== null) numbers.set(old, found);
  }
  return blockClaims(block * PLAN_BLOCK_ROWS + 1, rows, (id) => numbers.get(id));
}

function describe({ id, ledger: { realm } }: BatchRef, begun: Begun): UnfinishedImport {
  return {
    batch: id,
    realm: realm.name,
    rehearsal: realm.rehearsal,
    createdAt: new Date(begun.createdAt).toISOString(),
    rowsStored: begun.blocks * PLAN_BLOCK_ROWS,
  };
}
