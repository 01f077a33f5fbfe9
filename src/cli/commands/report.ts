import { resolve } from 'node:path';
import { findBatch, PlanReader } from '../../ledger/index.js';
import { reportBatch } from '../../operations/batches/report.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argument, flag, text } from '../frame/options.js';

export const command = defineCommand({
  name: 'report',
  description: 'Writes the report files of a batch again from the ledger, at any time, also half-way.',
  arguments: { BATCH: argument('a batch id, a unique prefix of one, or `last`') },
  options: {
    out: text('DIR', 'the folder for reports; the batch gets a folder of its own in it'),
    public: flag('only member, tokens, reason, time and sums, to be shown to the community'),
  },
  examples: ['almoner report last', 'almoner report last --public --out /srv/www'],
  run: async (context) =>
    withApp<ExitStatus>(context, 'report', async (app) => {
      const { output, args, options, cwd } = context;
      const ref = await findBatch(app.scripts, args.BATCH, context.global.realm);
      const { folder, files } = await reportBatch(ref, new PlanReader(ref.ledger), app.config, {
        out: options.out === undefined ? undefined : resolve(cwd, options.out),
        public: options.public,
      });
      const { rehearsal, name } = ref.ledger.realm;
      output.print({
        json: { batch: ref.id, realm: name, rehearsal, public: options.public, report: folder, files },
        text: [
          ...(rehearsal ? [output.colours.yellow('REHEARSAL: no real points moved.')] : []),
          `Report of batch ${ref.id}: ${folder}`,
          ...files.map((file) => `  ${file}`),
        ],
        next: `open ${folder}/report.html`,
      });
      return 0;
    }),
});
