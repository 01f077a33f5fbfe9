import { AlmonerError } from '../../../core/errors/error.js';
import { decideRecovery } from '../../../operations/services/decide-recovery.js';
import { recoveryState } from '../../../operations/services/recovery-state.js';
import { storyOf } from '../../../operations/services/recovery-story.js';
import type { RecoveryStory as Story } from '../../../operations/views/realm.js';
import { RealmParams } from '../../api/overview.js';
import * as api from '../../api/recovery.js';
import { withoutPaths } from '../../error-reply.js';
import type { Desk } from '../desk.js';
import { route } from '../route.js';

/** After the store was restarted, failed over or restored. */
export const RECOVERY_ROUTES = [
  route('GET /api/recovery', 'viewer', {
    summary: 'What happened to the store of each realm, what is waited for, and what a person decides.',
    reply: api.RecoveryReply,
    async handle(desk) {
      const stories = (await recoveryState(desk.app)).map(storyOf);
      return { realms: await Promise.all(stories.map((story) => storyReply(desk, story))) };
    },
  }),
  route('POST /api/recovery/:realm', 'operator', {
    summary: 'Make one decision about a realm, if it still does what was shown; answers with its new story.',
    params: RealmParams,
    body: api.RecoveryRequest,
    reply: api.RecoveryStory,
    async handle(desk, { params, body, visitor }) {
      if (body.kind === 'retire' && Number.isNaN(Date.parse(body.of)))
        throw new AlmonerError('ALM_DESK_BAD_REQUEST', '`of` is no time. Nothing was done.');
      // One after the other: a second person's click is compared with what the first one's did.
      return desk.agreeing.through(async () => {
        const app = desk.app.as(visitor.identity);
        const story = await decideRecovery(app, params.realm, body, body.reason ?? null);
        return storyReply(desk, story);
      });
    },
  }),
];

/** A viewer is told which machine a folder is on, not where it lies there. */
async function storyReply({ board }: Desk, story: Story): Promise<api.RecoveryStory> {
  return {
    ...story,
    happened: withoutPaths(story.happened),
    waitsFor: story.waitsFor.map(withoutPaths),
    waiting: story.state === 'waiting for a person' ? await waitingIn(board, story.realm) : [],
  };
}

async function waitingIn(board: Desk['board'], realm: string) {
  const { seen } = await board.look();
  return seen.flatMap(({ ref, view, waiting }) =>
    waiting
      .filter(({ why }) => why === 'after-rollback' && ref.ledger.realm.name === realm)
      .map(({ orders, tokens }) => ({ batch: ref.id, source: view.manifest.source, orders, tokens })),
  );
}
