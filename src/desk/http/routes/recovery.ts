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

/** Routes for decisions after a restart, failover or restore of the store. */
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
      // Decisions run one after the other, so that the second click is compared with the state after the first.
      return desk.agreeing.through(async () => {
        const app = desk.app.as(visitor.identity);
        const story = await decideRecovery(app, params.realm, body, body.reason ?? null);
        return storyReply(desk, story);
      });
    },
  }),
];

/** A viewer sees the machine of a folder, but not its path. */
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
