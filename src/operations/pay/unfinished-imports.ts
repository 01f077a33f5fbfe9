import { type BatchId, parseOrderId } from '../../core/ids.js';
import {
  type BatchRef,
  type BegunImport,
  type BlockClaims,
  batchNumber,
  begunImport,
  blockClaims,
  decodePlanBlock,
  dropBatch,
  everyBatch,
  NO_CLAIMS,
  newNonce,
  openBatch,
  PLAN_BLOCK_ROWS,
  type RealmLedger,
  type ScriptClient,
  storeSource,
} from '../../ledger/index.js';
import { isoTime } from '../../words/spelling.js';

/**
 * Imports that were begun and never sealed. They hold references and marks, and nothing of them is ever sent.
 * Importing the same file again goes on with them; cancelling gives back what they hold.
 */
export type UnfinishedImport = ReturnType<typeof describe>;

export async function unfinishedImports(scripts: ScriptClient, realm?: string): Promise<UnfinishedImport[]> {
  const found = await Promise.all(
    (await everyBatch(scripts, realm)).map(async (ref) => {
      const begun = await begunImport(ref);
      return begun === null ? [] : [describe(ref, begun)];
    }),
  );
  return found.flat();
}

export async function isUnfinished(ref: BatchRef): Promise<boolean> {
  return (await begunImport(ref)) !== null;
}

/** Gives back its references and marks and forgets it. An importer that still lives is shut out first. */
export async function releaseImport(ref: BatchRef): Promise<UnfinishedImport | null> {
  const { ledger, no, id } = ref;
  const importer = newNonce();
  const begun = await begunImport(ref);
  if (begun === null) return null;
  const { content, createdAt } = begun;
  const opened = await openBatch(ledger, { content, id, importer, createdAt });
  if (opened.status !== 'taken-over' || opened.no !== no) return null;
  // Read again: the importer may have stored another block before it was shut out.
  const { blocks } = (await begunImport(ref)) ?? begun;
  await dropBatch(ledger, { no, importer }, blocks, (block) => claimsOfStored(ledger, no, block));
  return describe(ref, begun);
}

async function claimsOfStored(ledger: RealmLedger, no: string, block: number): Promise<BlockClaims> {
  const bytes = await storeSource({ ledger, no }).plan(block);
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

function describe({ id, ledger: { realm } }: BatchRef, begun: BegunImport) {
  return {
    batch: id,
    realm: realm.name,
    rehearsal: realm.rehearsal,
    createdAt: isoTime(begun.createdAt),
    /** Rows stored so far, rounded up to whole blocks. */
    rowsStored: begun.blocks * PLAN_BLOCK_ROWS,
  };
}
