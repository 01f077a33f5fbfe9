import { batchId, orderId } from '../../src/core/ids.js';
import type { Move } from './moves.js';
import type { Row } from './operator.js';
import type { Scene } from './scene.js';

/** What careful people do: they look at the realm before they say what became of a doubt, and never lie. */

const DEAD = ['R', 'X'];

export async function importMissing(scene: Scene): Promise<void> {
  for (const file of scene.files) if (!scene.numbers.has(file.id)) await scene.operator.importFile(file);
  scene.numbers = await scene.operator.numbers();
}

export async function resolveDoubts(scene: Scene): Promise<void> {
  for (const file of scene.files) {
    const batch = await scene.operator.look(file);
    for (const [i, record] of (batch?.records ?? []).entries()) {
      const intention = file.rows[i]?.intention ?? '';
      if (batch === undefined || record.code !== 'D' || !scene.realm.isOver(intention)) continue;
      const paid = scene.realm.times(intention) > 0;
      await scene.operator.resolve(file, batch.no, i + 1, record, paid);
    }
  }
}

/** A file that the store has forgotten is imported again before anything else is made of its rows. */
function isComplete(scene: Scene): boolean {
  return scene.unmerged.isSafe && scene.files.every(({ id }) => scene.numbers.has(id));
}

export async function retry(
  scene: Scene,
  { file: number, first, count }: Extract<Move, { do: 'retry' }>,
): Promise<void> {
  if (!isComplete(scene)) return;
  const file = scene.file(number);
  const batch = await scene.operator.look(file);
  if (batch === undefined) return;
  for (let i = 0; i < count; i++) {
    const index = 1 + ((first - 1 + i) % file.rows.length);
    if (DEAD.includes(batch.records[index - 1]?.code ?? ''))
      await scene.operator.retry(file, batch.no, index);
  }
}

/** A new file of the rows that were not paid, each standing in for the old one. */
export async function runFailed(
  scene: Scene,
  { file: number, count }: Extract<Move, { do: 'run failed.csv' }>,
): Promise<void> {
  if (!isComplete(scene)) return;
  const file = scene.file(number);
  const batch = await scene.operator.look(file);
  if (batch === undefined) return;
  const rows = file.rows.flatMap((row, i): Row[] => {
    const record = batch.records[i];
    const failed = record !== undefined && DEAD.includes(record.code) && record.replacedBy === null;
    return failed ? [{ ...row, replaces: orderId(file.id, i + 1) }] : [];
  });
  if (rows.length === 0) return;
  const made = { id: batchId(`file-${scene.files.length}`), rows: rows.slice(0, count) };
  if (await scene.operator.importFile(made)) scene.keep(made);
  scene.numbers = await scene.operator.numbers();
}

export async function resumeAll(scene: Scene): Promise<void> {
  await scene.byOperator(async () => {
    await scene.operator.release();
    for (const file of scene.files) {
      const batch = await scene.operator.look(file);
      if (batch?.state === 'paused' || batch?.state === 'halted')
        await scene.operator.steer('resume', batch.no);
    }
  });
}
