import { type BatchId, orderId, UNDO } from '../../src/core/ids.js';
import { inverseOf } from '../../src/core/order.js';
import type { OrderRecord } from '../../src/ledger/record.js';
import { freshRow, rowsByTable } from './files.js';
import type { Preview } from './intake.js';
import type { Move } from './moves.js';
import { planRule, ruleLimit } from './rules.js';
import type { Scene } from './scene.js';
import { type File, type Given, orderNamed, type Row, rowsGiven } from './sheet.js';

/** What careful people do: they look at the realm before they decide a doubt, and never lie. */

const DEAD = ['R', 'X'];

type Asked<Kind extends Move['do']> = Extract<Move, { do: Kind }>;

/**
 * Imports again the files that the store has forgotten. A refusal because the store does not know an order yet is
 * retried later. Once all journals are merged and none holds the order, people may import it with other rows than the
 * first time.
 */
export async function importMissing(scene: Scene): Promise<void> {
  const { operator } = scene;
  const merged = scene.unmerged.isSafe && (await operator.armed());
  for (const file of [...scene.files])
    if (scene.isMissing(file)) {
      const preview = await (merged ? look(scene, file) : operator.intake.preview(file));
      const made = await operator.intake.start(preview);
      if (made !== null) scene.replace(file, made);
    }
  await scene.lookAround();
}

export async function resolveDoubts(scene: Scene): Promise<void> {
  for (const file of scene.files) {
    const batch = await scene.operator.look(file);
    for (const [i, record] of (batch?.records ?? []).entries()) {
      const id = orderId(file.id, i + 1);
      if (batch === undefined || record.code !== 'D' || !scene.realm.isOver(id)) continue;
      await scene.operator.resolve(file, batch.no, i + 1, record, scene.realm.hasApplied(id));
    }
  }
}

/** A doubt on an exported list, with the outcome that a person has looked up. */
export type Exported = {
  readonly batch: BatchId;
  readonly index: number;
  readonly record: Pick<OrderRecord, 'doubt' | 'tries'>;
  readonly paid: boolean;
};

export async function exportDoubts(scene: Scene): Promise<void> {
  for (const file of scene.files) {
    const batch = await scene.operator.look(file);
    for (const [i, { code, doubt, tries }] of (batch?.records ?? []).entries()) {
      const id = orderId(file.id, i + 1);
      if (code !== 'D' || !scene.realm.isOver(id)) continue;
      const paid = scene.realm.hasApplied(id);
      scene.exported.push({ batch: file.id, index: i + 1, record: { doubt, tries }, paid });
    }
  }
}

/** Decides by the exported list. It may be old: meanwhile others have decided, retried, and met another doubt. */
export async function decideAsExported(scene: Scene): Promise<void> {
  for (const { batch, index, record, paid } of scene.exported) {
    const file = scene.files.find(({ id }) => id === batch);
    if (file === undefined) continue;
    const now = await scene.operator.look(file);
    if (now?.records[index - 1]?.code === 'D')
      await scene.operator.resolve(file, now.no, index, record, paid);
  }
}

/** Imports a forgotten file again before its rows are used for anything else. */
function isComplete(scene: Scene): boolean {
  return scene.unmerged.isSafe && !scene.files.some((file) => scene.isMissing(file));
}

export async function retry(scene: Scene, { file: number, first, count }: Asked<'retry'>): Promise<void> {
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

/** Imports the unpaid rows, each standing in for the old one. `twice`: two such files are concatenated. */
export async function runFailed(scene: Scene, move: Asked<'run failed.csv'>): Promise<void> {
  if (!isComplete(scene)) return;
  const file = scene.file(move.file);
  const batch = await scene.operator.look(file);
  const rows = file.rows.flatMap((row, i): Row[] => {
    const record = batch?.records[i];
    const failed = record !== undefined && DEAD.includes(record.code) && record.replacedBy === null;
    return failed ? [{ ...row, replaces: orderId(file.id, i + 1) }] : [];
  });
  const some = rows.slice(0, move.count);
  await give(scene, rowsGiven(move.twice ? [...some, ...some] : some), move.held);
}

/** Takes back what a batch paid; a running batch is stopped first. */
export async function undo(scene: Scene, { file: number, first, count, held }: Asked<'undo'>): Promise<void> {
  if (!isComplete(scene)) return;
  const file = scene.file(number);
  const batch = await scene.operator.look(file);
  if (batch === undefined) return;
  await scene.operator.steer('pause', file, batch.no);
  const text = await scene.operator.undoFile(file, batch.no);
  await scene.operator.steer('resume', file, batch.no);
  const lines = text?.trim().split('\n').slice(1) ?? [];
  const rows = lines.map((line): Row => {
    const reference = line.split(',').find((cell) => cell.startsWith(UNDO)) ?? '';
    const { order, intention } = scene.row(orderNamed(reference.slice(UNDO.length)));
    const undone = inverseOf(order);
    return { order: undone, reference, replaces: null, intention: `undo of ${intention}`, undoes: intention };
  });
  const from = first % Math.max(1, rows.length);
  await give(scene, rowsGiven(rows.slice(from, from + count)), held);
}

/**
 * Imports a near-copy of a file: some of its rows, and new ones. Equal rows of equal files do not count as copies of
 * each other.
 */
export async function repeat(scene: Scene, move: Asked<'repeat'>): Promise<void> {
  if (!isComplete(scene)) return;
  const { rows } = scene.file(move.file);
  const copied = rows
    .slice(move.first, move.first + move.count)
    .filter(({ reference, undoes }) => undoes === null && (scene.plan.distinct || reference !== null))
    .map((row): Row => ({ ...row, replaces: null }));
  const fresh = Array.from({ length: move.fresh }, () => freshRow(scene.newNumber(), scene.plan.members));
  await give(scene, rowsGiven([...copied, ...fresh]), move.held);
}

export async function runRule(scene: Scene, { first, count, held }: Asked<'run a rule'>): Promise<void> {
  if (isComplete(scene)) await give(scene, await awards(scene, first, count), held);
}

/** The rule's scheduled time has come: the file starts without a preview. */
export async function runSchedule(scene: Scene, { first, count }: Asked<'the schedule runs'>): Promise<void> {
  const given = await awards(scene, first, count);
  if (given.rows.length > 0) await startFile(scene, await scene.operator.intake.preview(given));
}

function awards({ plan: { members }, operator, realm }: Scene, first: number, count: number): Promise<Given> {
  const audience = Array.from({ length: Math.min(count, members) }, (_, i) => 1 + ((first + i) % members));
  return planRule(operator.ledger, audience, (member) => realm.shownBalance(member), ruleLimit(members));
}

/** A file of handles with a table that maps them to members. The table may have been corrected since the last time. */
export async function payByTable(scene: Scene, move: Asked<'pay by table'>): Promise<void> {
  if (!isComplete(scene)) return;
  const { first, count, corrected, held } = move;
  await give(scene, rowsByTable(scene.plan.members, { first, count, corrected }), held);
}

/** A person previews the plan before it starts: rows that were already paid are left out. */
async function look(scene: Scene, given: Given): Promise<Preview> {
  const { intake } = scene.operator;
  const preview = await intake.preview(given);
  if (preview.plan.repeats.count === 0) return preview;
  return intake.preview(
    scene.plan.distinct || given.table !== null || preview.plan.recovered !== null
      ? { ...given, newRowsOnly: true }
      : { ...given, again: `again ${scene.newNumber()}` },
  );
}

async function give(scene: Scene, given: Given, held: boolean): Promise<void> {
  if (given.rows.length === 0) return;
  const preview = await look(scene, given);
  if (held) scene.previews.push(preview);
  else await startFile(scene, preview);
}

/** Starts the oldest file that was previewed and not started. */
export async function start(scene: Scene): Promise<void> {
  const preview = isComplete(scene) ? scene.previews.shift() : undefined;
  if (preview !== undefined) await startFile(scene, preview);
}

async function startFile(scene: Scene, preview: Preview): Promise<void> {
  const made = await scene.operator.intake.start(preview);
  if (made !== null && scene.files.every(({ id }) => id !== made.id)) scene.keep(made);
  await scene.lookAround();
}

/** Approves a batch. The judge remembers which batches were ever approved. */
export async function approve(scene: Scene, file: File, by: 'ada' | 'ben'): Promise<void> {
  const batch = await scene.operator.look(file);
  if (batch === undefined) return;
  const answer = await scene.operator.approve(file, batch.no, by);
  if (answer !== 'approved') return;
  if (by === 'ada') scene.broken.push(`ada prepared ${file.id} and said go for it`);
  scene.approved.add(file.id);
}

export async function resumeAll(scene: Scene): Promise<void> {
  await scene.byOperator(async () => {
    await scene.operator.release();
    await scene.operator.resumeAfterRollback();
    for (const file of scene.files) {
      const batch = await scene.operator.look(file);
      if (batch === undefined) continue;
      if (batch.state === 'paused' || batch.state === 'halted')
        await scene.operator.steer('resume', file, batch.no);
      const waits = await scene.operator.closed(file, batch.no);
      if (waits === 'approval') await approve(scene, file, 'ben');
      if (waits !== null) await scene.operator.steer('resume', file, batch.no);
    }
  });
}
