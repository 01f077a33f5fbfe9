import { resolve } from 'node:path';
import { findBatch } from '../../ledger/index.js';
import { exportDead, heldByImports } from '../../operations/dead/dead-letters.js';
import { NewFile } from '../../report/new-file.js';
import { counted } from '../../words/spelling.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { text, usage } from '../frame/options.js';
import { heldLine } from '../text/order-text.js';

export const command = defineCommand({
  name: 'dead export',
  description:
    'Writes the dead letters of a batch as CSV, like failed.csv: refused and exhausted ones that were neither discarded nor put into another file.',
  arguments: {},
  options: {
    batch: text('BATCH', 'a batch id, a unique prefix of one, or `last`'),
    out: text('FILE', 'where to write it (default: dead-BATCH.csv here)'),
  },
  examples: ['almoner dead export --batch last --out mended.csv'],
  run: async (context) => {
    const { output, options, cwd } = context;
    const { batch } = options;
    if (batch === undefined) throw usage('Name the batch with --batch. Nothing was done.');
    return withApp<ExitStatus>(context, 'dead-export', async (app) => {
      const ref = await findBatch(app.scripts, batch, context.global.realm);
      const name = options.out ?? `dead-${ref.id}.csv`;
      const file = await NewFile.begin(resolve(cwd, name));
      let rows = 0;
      try {
        ({ rows } = await exportDead(ref, (line) => file.add(line)));
        if (rows === 0) await file.discard();
        else await file.publish();
      } catch (error) {
        await file.discard();
        throw error;
      }
      const held = await heldByImports(app.scripts, [ref]);
      output.print({
        json: { batch: ref.id, file: rows === 0 ? null : file.path, rows },
        text: [
          rows === 0
            ? `Batch ${ref.id} has no dead letters to export; no file was written.`
            : `${counted(rows, 'dead letter')} written to ${name}.`,
          ...held.map(heldLine),
        ],
        next:
          rows === 0
            ? null
            : `mend the rows, then almoner run ${name}; it replaces them, so nobody is paid twice`,
      });
      return 0;
    });
  },
});
