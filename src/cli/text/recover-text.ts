import { counted } from '../../core/counted.js';
import type { Waiting } from '../../core/waiting.js';
import type { RecoverResult } from '../../operations/services/recover.js';
import type { RecoveryStory } from '../../operations/views/realm.js';
import { isShortId } from '../../planning/paid-before/identity.js';
import { RECOVERY_STATE_WORDS } from '../../words/recovery.js';

/** The outcome of `recover` and `restore`, realm by realm. */

export function recoverLines(result: RecoverResult, stories: readonly RecoveryStory[]): string[] {
  return [...stories.flatMap(storyLines), ...resultLines(result)];
}

function storyLines({ realm, state, happened, decisions, ...story }: RecoveryStory): string[] {
  // The line about what happened is printed once, even where the realm waits for it.
  const waitsFor = story.waitsFor.filter((line) => line !== happened);
  return [
    `Realm ${realm}: ${RECOVERY_STATE_WORDS[state]}`,
    `  ${happened}`,
    ...(waitsFor.length === 0 ? [] : ['  It waits for:', ...waitsFor.map((line) => `    ${line}`)]),
    ...(decisions.length === 0
      ? []
      : [
          '  A person decides:',
          ...decisions.flatMap(({ command, does }) => [`    ${command}`, `      ${does}`]),
        ]),
  ];
}

function resultLines({ merged, unknown, doubts, accepted, retired }: RecoverResult): string[] {
  const left = [
    ...(doubts === 0 ? [] : [`${doubts} ${doubts === 1 ? 'is a doubt' : 'are doubts'} now`]),
    ...(unknown === doubts ? [] : [`${unknown - doubts} being resolved`]),
  ];
  return [
    ...(retired === 0
      ? []
      : [`${counted(retired, 'data folder is', 'data folders are')} not waited for any more.`]),
    ...(accepted === null ? [] : [acceptedLine(accepted)]),
    merged === 0
      ? 'The journals told this command nothing new. Nothing was sent.'
      : `This command put ${counted(merged, 'order')} right from journals${left.length === 0 ? '' : ` (${left.join(', ')})`}. Nothing was sent.`,
  ];
}

/** The orders that a person gave up with --accept-missing, and their new state. */
function acceptedLine({ exact, orders, tokens }: NonNullable<RecoverResult['accepted']>): string {
  return exact
    ? `Given up: ${counted(orders, 'order')} (${counted(tokens, 'token')}) became unknown, or a doubt where the realm cannot be asked.`
    : `Given up: ${counted(orders, 'order')} (${counted(tokens, 'token')}) became a doubt, because the store may have forgotten that they were sent. It may have forgotten whole batches as well: for 30 days a new file is refused until you have looked upstream and say --again LABEL.`;
}

/** The ledger is open, but a silent process still holds orders that no other process can take. */
export function lostLine({ orders, tokens, message }: Waiting): string {
  return `${counted(orders, 'order stands', 'orders stand')} still (${counted(tokens, 'token')}). ${message}`;
}

/** The most urgent next step after `recover` or `restore`. */
export function recoverNext(
  { realms, unknown, doubts, accepted }: RecoverResult,
  stories: readonly RecoveryStory[],
  lost: readonly Waiting[],
): string | null {
  const stopped = realms.find(({ armed, reason }) => !armed && reason !== null);
  if (stopped?.reason != null) return stopped.reason.next;
  const waits = stories.find(({ waitsFor }) => waitsFor.length > 0);
  if (waits !== undefined)
    return 'almoner recover on each machine named above; for a disk or folder that is lost, one of the commands above';
  const decision = stories.flatMap(({ decisions }) => decisions)[0];
  if (decision !== undefined) return decision.command;
  const ends = lost.find(({ next }) => next !== null);
  if (ends !== undefined) return ends.next;
  if (doubts > 0 || (accepted !== null && accepted.orders > 0)) return 'almoner doubt list';
  if (unknown > 0) return 'almoner status';
  const forgotten = realms.flatMap(({ recovered }) => recovered.map(({ batch }) => batch));
  return forgotten.length === 0 ? null : runAgain(forgotten);
}

/**
 * The next step for batches that a restored store forgot. Journals know a batch by its id, so that a named batch
 * needs its --batch-id again.
 */
export function runAgain(forgotten: readonly string[]): string {
  const named = forgotten.filter((batch) => !isShortId(batch)).map((batch) => `--batch-id ${batch}`);
  const names =
    named.length === 0
      ? 'with the --batch-id that it was given, if any'
      : `those that were named under their names (${named.join(', ')}), the others without one`;
  return `run the file of each forgotten batch again, ${names}: what the journals know as paid stays paid`;
}
