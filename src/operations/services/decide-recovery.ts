import { AlmonerError } from '../../core/errors/error.js';
import type { RecoveryDecisionKind } from '../../core/recovery-decisions.js';
import type { App } from '../../runtime/app.js';
import type { RecoveryStory } from '../views/realm.js';
import { resumeAfterRollback } from './after-rollback.js';
import { recoverRealms } from './recover.js';
import { recoveryState } from './recovery-state.js';
import { storyOf } from './recovery-story.js';

/** A decision as a person saw it on a page: which one, and the sentence that said what it does. */
export type ShownDecision = {
  readonly kind: RecoveryDecisionKind;
  readonly of: string;
  readonly shown: string;
};

/**
 * Makes one decision about one realm, if it still does what the person saw. The sentence names how many orders and tokens
 * it is about, so a sentence that is no longer the same is another decision. It is compared twice: before anything is
 * done, and once the journals here are merged, which may change the numbers or end the need to decide.
 */
export async function decideRecovery(
  app: App,
  realm: string,
  shown: ShownDecision,
  why: string | null,
): Promise<RecoveryStory> {
  const whyChanged = async () => changeOf(await storiesOf(app, realm), shown);
  const before = await whyChanged();
  if (before !== null) throw before;
  if (shown.kind === 'resume') {
    const { resumed } = await resumeAfterRollback(app, realm, { who: app.config.operator, why });
    if (resumed.length === 0) throw changed(shown);
    return storyNow(app, realm);
  }
  // Kept and thrown later: what throws in the middle of a recovery leaves its session registered.
  const merged: { changed: AlmonerError | null } = { changed: null };
  const isStillMeant = async () => {
    merged.changed = await whyChanged();
    return merged.changed === null;
  };
  const { accepted } = await recoverRealms(app, { ...decisionOf(shown), realm, why, isStillMeant });
  if (merged.changed !== null) throw merged.changed;
  // The session merged or the folder was looked at in the moment after it was compared.
  if (accepted === null && shown.kind !== 'accept-moved') throw changed(shown);
  return storyNow(app, realm);
}

function decisionOf({ kind, of }: ShownDecision) {
  if (kind === 'accept-missing') return { acceptMissing: of };
  if (kind === 'accept-moved') return { acceptMoved: true };
  return { retireUnseenSinceMs: Date.parse(of) };
}

/** A realm that was reached under several addresses has a ledger, and so a story, for each. */
async function storiesOf(app: App, realm: string): Promise<RecoveryStory[]> {
  const stories = (await recoveryState(app)).map(storyOf).filter((story) => story.realm === realm);
  if (stories.length > 0) return stories;
  throw new AlmonerError('ALM_DESK_NOT_FOUND', `No ledger of a realm ${realm} is known. Nothing was done.`, {
    next: 'Look at the realms on the page Recovery.',
  });
}

async function storyNow(app: App, realm: string): Promise<RecoveryStory> {
  const stories = await storiesOf(app, realm);
  const story = stories.find(({ state }) => state !== 'open') ?? stories[0];
  if (story === undefined) throw new Error('a realm without a story');
  return story;
}

/** The refusal where the decision is gone or does something else by now; null where it is as it was shown. */
function changeOf(stories: readonly RecoveryStory[], shown: ShownDecision): AlmonerError | null {
  const offered = stories.flatMap(({ decisions }) => decisions);
  const same = offered.filter(({ kind, of }) => kind === shown.kind && of === shown.of);
  return same.some(({ does }) => does === shown.shown) ? null : changed(shown, same[0]?.does);
}

function changed({ shown }: ShownDecision, now?: string): AlmonerError {
  const words = now === undefined ? 'The decision is no longer offered.' : `It would now do this: ${now}`;
  return new AlmonerError(
    'ALM_DESK_CHANGED',
    `The situation has changed since you looked. ${words} Nothing was changed.`,
    { details: [`shown: ${shown}`], next: 'Load the page again, then decide.' },
  );
}
