import { counted } from '../../core/counted.js';
import { type RealmVerified, verifyBackup, verifyRealms } from '../../operations/backup/verify.js';
import { withStopSignals } from '../../runtime/stop-signals.js';
import { grouped } from '../../words/spelling.js';
import { defineCommand } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { text } from '../frame/options.js';
import { slowProgress } from '../text/order-text.js';

/** Checks the ledger, or a backup, against its invariants. It changes nothing. */
export const verify = defineCommand({
  name: 'verify',
  description:
    'Adds up every order of every realm again and compares that with what the ledger says, archives included. Reads only; workers may run meanwhile. Exit 4 when something differs. With --backup: the files of a backup and the ledger in it.',
  options: { backup: text('DIR', 'a backup that `almoner backup` made, in place of the store') },
  examples: ['almoner verify', 'almoner verify --backup /backups/2026-11-17'],
  async run(context) {
    const { output, options } = context;
    const tell = slowProgress(
      output.note,
      (done, of) => `checked ${grouped(done)} of ${counted(of, 'batch', 'batches')}`,
    );
    const onBatches = (_realm: string, done: number, of: number) => tell(done, of);
    const { backup } = options;
    const found =
      backup === undefined
        ? {
            differences: [],
            realms: await withApp(
              context,
              'verify',
              (app) => verifyRealms(app.scripts, { isEmbedded: app.store.embedded, onBatches }),
              { archives: false },
            ),
          }
        : await withStopSignals((signal) =>
            verifyBackup(backup, {
              signal,
              onBatches,
              onFiles: slowProgress(
                output.note,
                (done, of) => `read ${grouped(done)} of ${counted(of, 'byte')}`,
              ),
            }),
          );
    const { differences, realms } = found;
    const all = [...differences, ...realms.flatMap((realm) => realm.differences)];
    output.print({
      json: { backup: backup ?? null, ties: all.length === 0, differences, realms },
      text: [
        ...('manifest' in found
          ? [`Backup of ${found.manifest.at}, made by almoner ${found.manifest.version}`]
          : []),
        ...differences.map((what) => `  differs: ${what}`),
        ...realms.flatMap(realmLines),
        all.length === 0 ? 'No difference was found.' : `${counted(all.length, 'difference')} found.`,
      ],
      next:
        all.length === 0
          ? null
          : backup !== undefined
            ? 'do not rely on this backup: use another copy of it or another backup, and make a new one with `almoner backup DIR`'
            : 'keep the data folder as it is, and report this with the output of `almoner doctor`',
    });
    return all.length === 0 ? 0 : 4;
  },
});

/** A realm's counts, its differences, and what could not be checked. */
function realmLines({ realm, batches, orders, differences, unchecked }: RealmVerified): string[] {
  return [
    `Realm ${realm}: checked ${counted(batches, 'batch', 'batches')} with ${counted(orders, 'order')}`,
    ...differences.map((what) => `  differs: ${what}`),
    ...unchecked.map((what) => `  not checked: ${what}`),
  ];
}
