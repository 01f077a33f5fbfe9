import { allWaiting } from '../../operations/batches/waiting.js';
import { recoverRealms } from '../../operations/services/recover.js';
import { isAnyClosed, storyOf } from '../../operations/services/recovery-story.js';
import { storeCommand } from '../frame/open-app.js';
import { flag, text, usage } from '../frame/options.js';
import { lostLine, recoverLines, recoverNext } from '../text/recover-text.js';

/** Merges the journals into the ledger after the store was lost or rolled back. */
export const recover = storeCommand({
  name: 'recover',
  description:
    'After the store was restarted, failed over or restored: merges the journals of this machine, says what happened, what is waited for and what a person decides, and opens the ledger where nothing is missing.',
  options: {
    acceptMoved: flag(
      'the data folder was moved whole, and nothing was paid from the old one since: nothing is missing',
    ),
    restored: flag(
      'an outside Redis was put back from a copy: first sends wait for a person, whatever the journals know',
    ),
    acceptMissing: text(
      'SESSION',
      'this session is lost with its journal, or lines of the journal cannot be read: what it may have sent becomes unknown or a doubt; `removed`: journals, or a newer data folder, are gone for good',
    ),
    retireUnseenSince: text(
      'D',
      'data folders that were not heard of since then do not come back: 30d, 12h, or a date such as 2026-11-01',
    ),
  },
  examples: [
    'almoner recover',
    'almoner recover --restored',
    'almoner recover --accept-missing 0f3a9c21b7de',
    'almoner recover --retire-unseen-since 30d',
  ],
  run: (context) => async (app) => {
    const { acceptMissing = null, acceptMoved, restored, retireUnseenSince } = context.options;
    const result = await recoverRealms(app, {
      acceptMissing,
      acceptMoved,
      restored,
      retireUnseenSinceMs: retireUnseenSince === undefined ? null : momentOf(retireUnseenSince),
      realm: context.global.realm,
    });
    const stories = result.realms.map(storyOf);
    const lost = (await allWaiting(app)).flatMap(({ waiting }) =>
      waiting.filter(({ session }) => session !== null),
    );
    context.output.print({
      json: { ...result, stories, waiting: lost },
      text: [
        ...recoverLines(result, stories),
        ...(retireUnseenSince !== undefined && result.retired === 0
          ? ['Every data folder that is known was heard of since then, or is in use: none was given up.']
          : []),
        ...lost.map(lostLine),
      ],
      next: recoverNext(result, stories, lost),
    });
    return isAnyClosed(result.realms, context.global.realm) ? 5 : 0;
  },
});

const UNIT_MS = { d: 86_400_000, h: 3_600_000 } as const;

/** Reads `30d`, `12h` or a date as a moment. A day means its beginning in UTC. */
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
