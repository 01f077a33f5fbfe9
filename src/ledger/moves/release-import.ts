import { type BatchId, parseOrderId } from '../../core/ids.js';
import { batchKeys, PLAN_BLOCK_ROWS } from '../keys.js';
import { decodePlanBlock } from '../plan-block.js';
import { type BegunImport, begunImport } from '../read/batch-facts.js';
import { batchNumber } from '../read/batches.js';
import { askRealm, type BatchRef, type RealmLedger } from '../realm-ledger.js';
import { newNonce } from '../script-client.js';
import { dropBatch, openBatch } from './import-batch.js';
import { type BlockClaims, blockClaims, NO_CLAIMS } from './put-block.js';

/** Takes an import back that was begun and never sealed; nothing of it was sent. */

/** Gives back its references and marks and forgets it. An importer that still lives is shut out first. */
export async function releaseImport(ref: BatchRef): Promise<BegunImport | null> {
  const { ledger, no, id } = ref;
  const importer = newNonce();
  const begun = await begunImport(ref);
  if (begun === null) return null;
  const { content, createdAt } = begun;
  const opened = await openBatch(ledger, { content, id, importer, createdAt, takesBack: true });
  if (opened.status !== 'taken-over' || opened.no !== no) return null;
  // Read again: the importer may have stored another block before it was shut out.
  const { blocks } = (await begunImport(ref)) ?? begun;
  await dropBatch(ledger, { no, importer }, blocks, (block) => claimsOfStored(ledger, no, block));
  return begun;
}

/** The same, where its process is known to be dead: whoever meant its file imports it again. Answers whether it was. */
export async function takeBackDead(ref: BatchRef): Promise<boolean> {
  const isDead = (await begunImport(ref))?.dead === true;
  if (isDead) await releaseImport(ref);
  return isDead;
}

async function claimsOfStored(ledger: RealmLedger, no: string, block: number): Promise<BlockClaims> {
  // As the import stored it: of a recovered batch a source reads the recovered rows alone.
  const bytes = await askRealm(ledger, 'read plan', (redis, T) =>
    redis.getBuffer(batchKeys(T, no).plan(block)),
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
