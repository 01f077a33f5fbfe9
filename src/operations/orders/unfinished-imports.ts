import { type BatchRef, lists, PLAN_BLOCK_ROWS, planning, type ScriptClient } from '../../ledger/index.js';
import { isoTime } from '../../words/spelling.js';

/**
 * Imports that were begun and never sealed. They hold references and marks, and nothing of them is ever sent.
 * Importing the same file again goes on with them; cancelling gives back what they hold.
 */
export type UnfinishedImport = ReturnType<typeof describe>;

export async function unfinishedImports(scripts: ScriptClient, realm?: string): Promise<UnfinishedImport[]> {
  const found = await Promise.all(
    (await lists.everyBatchIn(scripts, ['importing'], realm)).map(async (ref) => {
      const begun = await planning.imports.begun(ref);
      return begun === null || begun.recovered ? [] : [describe(ref, begun)];
    }),
  );
  return found.flat();
}

export async function isUnfinished(ref: BatchRef): Promise<boolean> {
  return (await planning.imports.begun(ref))?.recovered === false;
}

export async function releaseUnfinished(ref: BatchRef): Promise<UnfinishedImport | null> {
  const begun = await planning.imports.release(ref);
  return begun === null ? null : describe(ref, begun);
}

function describe(
  { id, ledger: { realm } }: BatchRef,
  begun: NonNullable<Awaited<ReturnType<typeof planning.imports.begun>>>,
) {
  return {
    batch: id,
    realm: realm.name,
    rehearsal: realm.rehearsal,
    createdAt: isoTime(begun.createdAt),
    /** Rows stored so far, rounded up to whole blocks. */
    rowsStored: begun.blocks * PLAN_BLOCK_ROWS,
  };
}
