import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { counted } from '../../core/counted.js';
import { AlmonerError, messageOf } from '../../core/errors/error.js';
import type { Manifest } from '../../operations/backup/manifest.js';
import {
  beginRestored,
  checkRestore,
  type FormerTokens,
  type Restored,
  restoreBackup,
} from '../../operations/backup/restore.js';
import { Tokens } from '../../operations/people/tokens.js';
import { recoverRealms } from '../../operations/services/recover.js';
import { storyOf } from '../../operations/services/recovery-story.js';
import type { App } from '../../runtime/app.js';
import type { Logger } from '../../runtime/logger.js';
import { hasStore } from '../../runtime/redis/replace-store.js';
import { withStopSignals } from '../../runtime/stop-signals.js';
import { grouped } from '../../words/spelling.js';
import { type CommandBase, defineCommand } from '../frame/command.js';
import { confirmRisk } from '../frame/confirm.js';
import { withApp } from '../frame/open-app.js';
import { argument, flag } from '../frame/options.js';
import { slowProgress } from '../text/order-text.js';
import { recoverLines, recoverNext } from '../text/recover-text.js';

const FORMER_PATIENCE_MS = 5_000;

/** Puts the store of a backup in place, beside the present journals, and recovers. The former store is kept. */
export const restore = defineCommand({
  name: 'restore',
  description:
    'Puts the store of a backup in the place of the present one, which is kept, beside the journals and archives that are there, and recovers. First sends wait for a person then (`almoner resume --after-rollback`). Refused while another process uses the data folder.',
  arguments: { DIR: argument('a backup that `almoner backup` made') },
  options: { yes: flag('do not ask') },
  examples: ['almoner restore /backups/2026-11-17'],
  async run(context) {
    const { args, options, output } = context;
    const [config, logger] = await Promise.all([context.config(), context.logger()]);
    const onFiles = slowProgress(
      output.note,
      (done, of) => `read ${grouped(done)} of ${counted(of, 'byte')}`,
    );
    const manifest = await withStopSignals((signal) => checkRestore(config, args.DIR, { signal, onFiles }));
    await confirmRisk(context, question(manifest, config.dataFolder), options.yes);
    const other = otherFolder(manifest, config.dataFolder);
    if (other !== null) output.note(otherWords(other));
    const former = await formerTokens(context, config.dataFolder, logger);
    const restored = await withStopSignals((signal) =>
      restoreBackup({ config, logger }, { folder: args.DIR, manifest }, former, { signal, onFiles }),
    );
    for (const line of restoredLines(manifest, restored, args.DIR)) output.note(line);
    return withApp(
      context,
      'restore',
      async (app) => {
        const referencesPutBack = await beginRestored(app, manifest);
        if (referencesPutBack > 0)
          output.note(
            `${counted(referencesPutBack, 'reference')} that \`almoner references add\` marked as spent since the backup: marked again.`,
          );
        const result = await recoverRealms(app);
        const stories = result.realms.map(storyOf);
        output.print({
          json: {
            from: args.DIR,
            at: manifest.at,
            otherFolder: other,
            ...restored,
            referencesPutBack,
            ...result,
            stories,
          },
          text: recoverLines(result, stories),
          next: recoverNext(result, stories, []),
        });
        // A restore ends with first sends held until a person resumes them. That state is a success, so that only
        // `closed` fails.
        return stories.some(({ state }) => state === 'closed') ? 5 : 0;
      },
      { archives: false },
    );
  },
});

type Whereabouts = { readonly folder: string; readonly machine: string };
type OtherFolder = { readonly backup: Whereabouts; readonly here: Whereabouts };

/** Compares folder and machine with those of the backup. Null: both are the same. */
function otherFolder({ dataFolder, machine }: Manifest, folder: string): OtherFolder | null {
  const here = { folder: resolve(folder), machine: hostname() };
  const isSame = resolve(dataFolder) === here.folder && machine === here.machine;
  return isSame ? null : { backup: { folder: dataFolder, machine }, here };
}

function otherWords({ backup, here }: OtherFolder): string {
  return `The backup is of another data folder: ${backup.folder} on ${backup.machine}. It replaces the store of ${here.folder} on ${here.machine}.`;
}

/** Asks the present store for its desk tokens. Null where it does not start: a restore must work without it. */
async function formerTokens(context: CommandBase, dataFolder: string, logger: Logger): Promise<FormerTokens> {
  if (!(await hasStore(dataFolder))) return null;
  try {
    const ask = async (app: App) => new Tokens(app.scripts).hashes();
    return await withApp(context, 'restore', ask, { patienceMs: FORMER_PATIENCE_MS, archives: false });
  } catch (error) {
    logger.debug(`the former store cannot be asked for its desk tokens: ${messageOf(error)}`);
    return null;
  }
}

/** The warning before a restore, which a person answers with yes. */
function question(manifest: Manifest, here: string): AlmonerError {
  const { at, machine, dataFolder, realms } = manifest;
  const other = otherFolder(manifest, here);
  return new AlmonerError(
    'ALM_CLI_NOT_CONFIRMED',
    `${other === null ? '' : `${otherWords(other)} `}The store in ${here} will be the one of ${at} (${dataFolder} on ${machine}; ${counted(realms.length, 'realm')}). The present store is moved aside and kept. Batches made since are forgotten, but for orders that the journals here know. Nothing was done.`,
    { next: 'Pass --yes where there is no terminal to ask on.' },
  );
}

/** What the restore moved, kept and added. */
function restoredLines({ at }: Manifest, restored: Restored, folder: string): string[] {
  const { aside, alsoKept, journalsAdded, journalsExtended, archivesAdded, archivesReplaced } = restored;
  const { tokensRevoked, tokensBack } = restored;
  return [
    `The store is the one of ${at}, from ${folder}.`,
    ...(aside === null ? [] : [`The former store is kept in ${aside}.`]),
    ...(tokensRevoked.length === 0
      ? []
      : [
          `Desk tokens of the backup that the former store did not have any more stay revoked: ${tokensRevoked.join(', ')}.`,
        ]),
    ...(tokensBack.length === 0
      ? []
      : [
          `The backup brings back these desk tokens: ${tokensBack.join(', ')}. No former store could say whether they were revoked since; revoke one with \`almoner desk token revoke NAME\`.`,
        ]),
    ...(alsoKept === null ? [] : [`Other files that stood in its place are kept in ${alsoKept}.`]),
    `Journals and archives that were here are as they were; ${counted(journalsAdded, 'journal')} and ${counted(archivesAdded, 'archive')} of the backup were added.`,
    ...(archivesReplaced === 0
      ? []
      : [
          `${counted(archivesReplaced, 'archive')} here differed from what the store names: replaced, and kept as BATCH.alm.before-TIME.`,
        ]),
    ...(journalsExtended === 0
      ? []
      : [
          `${counted(journalsExtended, 'journal')} here ended earlier than in the backup, and now holds its lines too.`,
        ]),
  ];
}
