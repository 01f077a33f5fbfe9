import { resolve } from 'node:path';
import { findBatch } from '../../ledger/index.js';
import { isRehearsalOfItsOwn } from '../../operations/batches/batch-realm.js';
import { type Undo, writeUndo } from '../../operations/batches/undo.js';
import { NewFile } from '../../report/new-file.js';
import { counted, grouped } from '../../words/spelling.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argument, text } from '../frame/options.js';

export const command = defineCommand({
  name: 'undo',
  description:
    'Writes the CSV that takes back what a batch paid. It sends nothing: running the file is a normal `almoner run`.',
  arguments: { BATCH: argument('a batch id, a unique prefix of one, or `last`') },
  options: { out: text('FILE', 'where to write it (default: undo-BATCH.csv here)') },
  examples: ['almoner undo last', 'almoner run undo-7k3m9q2x4v8w.csv'],
  run: async (context) =>
    withApp<ExitStatus>(context, 'undo', async (app) => {
      const { output, args, options, cwd } = context;
      const ref = await findBatch(app.scripts, args.BATCH, context.global.realm);
      const name = options.out ?? `undo-${ref.id}.csv`;
      const file = await NewFile.begin(resolve(cwd, name));
      let undo: Undo;
      try {
        undo = await writeUndo(ref, (line) => file.add(line));
        // A file without rows would only be refused when it is run.
        if (undo.rows === 0) await file.discard();
        else await file.publish();
      } catch (error) {
        await file.discard();
        throw error;
      }
      const { rehearsal, name: realm } = ref.ledger.realm;
      output.print({
        json: { batch: ref.id, realm, rehearsal, file: undo.rows === 0 ? null : file.path, ...undo },
        text: lines(undo, name, ref.id),
        next: isRehearsalOfItsOwn(app.config, ref.ledger.realm)
          ? 'nothing: the realm of a rehearsal is its own, so the file is only to be looked at'
          : next(undo, name, ref.id),
      });
      return 0;
    }),
});

function lines(undo: Undo, name: string, batch: string): string[] {
  return [
    undo.rows === 0
      ? `Batch ${batch} holds nothing that could be taken back; no file was written.`
      : `${name} takes back ${counted(undo.rows, 'order')}, ${grouped(undo.tokens)} tokens. Nothing was sent.`,
    ...leftOut(undo),
    ...(undo.paidOnWord.length === 0
      ? []
      : [
          `${counted(undo.paidOnWord.length, 'order')} paid only on an operator’s word: in the file, check them: ${named(undo.paidOnWord)}`,
        ]),
  ];
}

function leftOut(undo: Undo): string[] {
  const orders = undo.leftOut.reduce((sum, each) => sum + each.orders, 0);
  if (orders === 0) return [];
  return [
    `Left out: ${counted(orders, 'row')}.`,
    ...undo.leftOut.map(
      (each) =>
        `  ${counted(each.orders, 'order')}, ${grouped(each.tokens)} tokens, ${each.message}: ${named(each.named, each.orders)}`,
    ),
  ];
}

function named(orders: readonly string[], count = orders.length): string {
  const some = orders.slice(0, 10);
  return `${some.join(', ')}${count > some.length ? ', …' : ''}`;
}

function next(undo: Undo, name: string, batch: string): string | null {
  if (undo.rows > 0) return `look at it, then almoner run ${name}`;
  if (undo.doubts.length > 0) return `almoner doubt list --batch ${batch}`;
  return undo.leftOut.some(({ why }) => why === 'undo-in-doubt') ? 'almoner doubt list' : null;
}
