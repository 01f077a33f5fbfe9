import { counted } from '../../core/counted.js';
import { makeBackup } from '../../operations/backup/backup.js';
import { withStopSignals } from '../../runtime/stop-signals.js';
import { grouped } from '../../words/spelling.js';
import { storeCommand } from '../frame/open-app.js';
import { argument } from '../frame/options.js';
import { version } from '../frame/version.js';
import { slowProgress } from '../text/order-text.js';

/** Copies ledger, journals and archive to a folder while everything runs. */
export const backup = storeCommand({
  name: 'backup',
  description:
    'Writes a consistent copy of the ledger, the journals and the archive of this data folder into a new folder, while everything runs. Keys and secrets of the configuration are not in it.',
  arguments: { DIR: argument('a folder that does not exist yet, or an empty one, outside the data folder') },
  examples: ['almoner backup /backups/2026-11-17'],
  archives: false,
  run: (context) => async (app) => {
    const { args, output } = context;
    const words = {
      wait: 'keys into another copy that Redis is making, which this one waits for',
      store: 'bytes of the store',
      files: 'journals and archives',
    };
    const progress = (what: keyof typeof words) =>
      slowProgress(output.note, (done, of) => `copied ${grouped(done)} of ${grouped(of)} ${words[what]}`);
    const tell = { wait: progress('wait'), store: progress('store'), files: progress('files') };
    const made = await withStopSignals((signal) =>
      makeBackup(app, args.DIR, version(), { signal, onProgress: (what, done, of) => tell[what](done, of) }),
    );
    const bytes = made.files.reduce((sum, file) => sum + file.bytes, 0);
    const endingIn = (end: string) => made.files.filter(({ path }) => path.endsWith(end)).length;
    output.print({
      json: { folder: args.DIR, bytes, ...made },
      text: [
        `Backup of ${made.at} in ${args.DIR}: ${counted(made.files.length, 'file')}, ${grouped(bytes)} bytes`,
        ...made.realms.map(
          ({ name, batches, seq }) =>
            `  Realm ${name}: the backup holds ${counted(batches, 'batch', 'batches')} and all changes up to number ${grouped(seq)}.`,
        ),
        `  ${counted(endingIn('.journal'), 'journal')} and ${counted(endingIn('.alm'), 'archive')} of ${made.dataFolder}`,
        ...(made.store.embedded
          ? []
          : [
              '  The copy holds all of that Redis, also what other programs keep in it. Journals and archives of other machines are not in it.',
            ]),
      ],
      next: `almoner verify --backup ${args.DIR}`,
    });
  },
});
