import { counted } from '../../core/counted.js';
import type { Waiting } from '../../core/waiting.js';
import { allWaiting } from '../../operations/batches/waiting.js';
import { type RecoverResult, recoverRealms } from '../../operations/services/recover.js';
import { type RecoveryStory, storyOf } from '../../operations/services/recovery-story.js';
import { isShortId } from '../../planning/identity.js';
import { absoluteWords } from '../../words/amounts.js';
import { RECOVERY_STATE_WORDS } from '../../words/recovery.js';
import { storeCommand } from '../frame/open-app.js';
import { flag, text, usage } from '../frame/options.js';

export const recover = storeCommand({
  name: 'recover',
  description:
    'After the store was restarted, failed over or restored: merges the journals of this machine, says what happened, what is waited for and what a person decides, and opens the ledger where nothing is missing.',
  options: {
    acceptMoved: flag(
      'the data folder was moved whole, and nothing was paid from the old one since: nothing is missing',
    ),
    acceptMissing: text(
      'SESSION',
      'this session is lost with its journal: what it was sending becomes unknown; `removed`: journals, or a newer data folder, are gone for good',
    ),
    retireUnseenSince: text(
      'D',
      'data folders that were not heard of since then do not come back: 30d, 12h, or a date such as 2026-11-01',
    ),
  },
  examples: [
    'almoner recover',
    'almoner recover --accept-missing 0f3a9c21b7de',
    'almoner recover --retire-unseen-since 30d',
  ],
  run: (context) => async (app) => {
    const { acceptMissing = null, acceptMoved, retireUnseenSince } = context.options;
    const result = await recoverRealms(app, {
      acceptMissing,
      acceptMoved,
      retireUnseenSinceMs: retireUnseenSince === undefined ? null : momentOf(retireUnseenSince),
      realm: context.global.realm,
    });
    const stories = result.realms.map(storyOf);
    const lost = (await allWaiting(app)).flatMap(({ waiting }) =>
      waiting.filter(({ session }) => session !== null),
    );
    context.output.print({
      json: { ...result, stories, waiting: lost },
      text: [...stories.flatMap(storyLines), ...resultLines(result), ...lost.map(lostLine)],
      next: nextOf(result, stories, lost),
    });
    return stories.every(({ state }) => state === 'open') ? 0 : 5;
  },
});

const UNIT_MS = { d: 86_400_000, h: 3_600_000 } as const;

/** So long ago, or a date; a day means its beginning in UTC. */
export function momentOf(given: string, nowMs = Date.now()): number {
  const ago = /^([0-9]{1,5})([dh])$/.exec(given);
  if (ago?.[2] === 'd' || ago?.[2] === 'h') return nowMs - Number(ago[1]) * UNIT_MS[ago[2]];
  const at = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/.test(given) ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(at))
    throw usage(
      `--retire-unseen-since: expected 30d, 12h, or a date such as 2026-11-01, got ${JSON.stringify(given)}`,
    );
  return at;
}

function storyLines({ realm, state, happened, waitsFor, decisions }: RecoveryStory): string[] {
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

function resultLines({ merged, accepted, retired }: RecoverResult): string[] {
  return [
    ...(retired === 0
      ? []
      : [`${counted(retired, 'data folder is', 'data folders are')} not waited for any more.`]),
    ...(accepted === null ? [] : [acceptedLine(accepted)]),
    `${counted(merged, 'order was', 'orders were')} put right from journals by this command. Nothing was sent.`,
  ];
}

function acceptedLine({ exact, orders, tokens }: NonNullable<RecoverResult['accepted']>): string {
  return exact
    ? `Given up: ${counted(orders, 'order is', 'orders are')} (${absoluteWords(tokens)}) unknown now, or in doubt where nothing can be asked.`
    : `Given up: ${counted(orders, 'order is', 'orders are')} (${absoluteWords(tokens)}) in doubt now, because the store may have forgotten that they were sent. It may have forgotten whole batches as well: for 30 days a new file is refused until you have looked upstream and say --again LABEL.`;
}

/** The ledger is open, and yet not all is well: what a silent process was sending is in nobody's hands. */
function lostLine({ orders, tokens, message }: Waiting): string {
  return `${counted(orders, 'order stands', 'orders stand')} still (${absoluteWords(tokens)}). ${message}`;
}

function nextOf(
  { realms }: RecoverResult,
  stories: readonly RecoveryStory[],
  lost: readonly Waiting[],
): string | null {
  const stopped = realms.find(({ armed, reason }) => !armed && reason !== null);
  if (stopped?.reason != null) return stopped.reason.next;
  const waits = stories.find(({ waitsFor }) => waitsFor.length > 0);
  if (waits !== undefined)
    return 'almoner recover on the machine of each; where its disk is lost, one of the commands above';
  const decision = stories.flatMap(({ decisions }) => decisions)[0];
  if (decision !== undefined) return decision.command;
  const ends = lost.find(({ next }) => next !== null);
  if (ends !== undefined) return ends.next;
  const forgotten = realms.flatMap(({ recovered }) => recovered.map(({ batch }) => batch));
  return forgotten.length === 0 ? null : runAgain(forgotten);
}

/** Journals know a batch by its id: one that was given a name is found under that name only. */
export function runAgain(forgotten: readonly string[]): string {
  const named = forgotten.filter((batch) => !isShortId(batch)).map((batch) => `--batch-id ${batch}`);
  const names =
    named.length === 0
      ? 'with the --batch-id that it was given, if any'
      : `those that were named under their names (${named.join(', ')}), the others without one`;
  return `run the file of each forgotten batch again, ${names}: what the journals know as paid stays paid`;
}
