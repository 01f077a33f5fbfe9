import { AlmonerError } from '../../../core/errors/error.js';
import { findBatch, type StoredBatch } from '../../../ledger/index.js';
import {
  approve,
  askedBy,
  payableOf,
  previewApproval,
  refuse,
  waitsForApproval,
} from '../../../operations/approvals/approvals.js';
import { Tokens } from '../../../operations/people/tokens.js';
import { noApprovalWords, whyNotSecond } from '../../../words/people.js';
import {
  ApprovalReply,
  ApprovalsReply,
  ApprovedReply,
  ApproveRequest,
  RefuseRequest,
} from '../../api/approvals.js';
import { BatchParams, BatchReply } from '../../api/batches.js';
import { approvalsReply, previewReply } from '../../approvals.js';
import { gateReply, manifestReply, sealedBatch } from '../../live/batch-reply.js';
import { route } from '../route.js';

/** Routes with which a second person approves or refuses. */
export const APPROVAL_ROUTES = [
  route('GET /api/approvals', 'viewer', {
    summary: 'What waits for an approval: batches, retries of dead letters, and rules.',
    reply: ApprovalsReply,
    handle: async ({ board }, { visitor }) => approvalsReply(await board.look(), visitor.identity),
  }),
  route('GET /api/approvals/:batch', 'viewer', {
    summary: 'A batch that waits for an approval, with what its preparer saw and what is new in it.',
    params: BatchParams,
    reply: ApprovalReply,
    async handle({ app, board, explaining }, { params, visitor }) {
      const ref = await findBatch(app.scripts, params.batch, undefined, { lookingOnly: true });
      // The comparison holds two files in memory, so that only one runs at a time.
      const shown = await explaining.through(() => previewApproval(app, ref));
      const gate = gateReply(shown.view, await new Tokens(app.scripts).list());
      if (gate?.closed !== 'approval') throw notNeeded(ref.id, shown.view);
      return {
        ...previewReply(shown),
        summary: await board.summaryOf({ ref, view: shown.view, dispatched: 0 }),
        manifest: manifestReply(shown.view.manifest),
        gate,
        whyNot: whyNotSecond(
          visitor.identity,
          askedBy(shown.view),
          shown.letters === null ? 'prepared' : 'asked for',
        ),
      };
    },
  }),
  route('POST /api/approvals/:batch', 'approver', {
    summary: 'Approve exactly what was shown, if hash and total are those that were confirmed.',
    params: BatchParams,
    body: ApproveRequest,
    reply: ApprovedReply,
    async handle({ app, board }, { params, body, visitor }) {
      const ref = await findBatch(app.scripts, params.batch);
      const view = await sealedBatch(ref);
      const payable = payableOf(view);
      const tokens = String(payable.tokens);
      // A batch that was cancelled or sent meanwhile has another total. The reply names that state instead of the
      // total.
      if (body.tokens !== tokens && !waitsForApproval(view)) throw notNeeded(ref.id, view);
      if (body.tokens !== tokens)
        throw new AlmonerError(
          'ALM_DESK_CHANGED',
          `What batch ${ref.id} would send adds up to ${tokens} tokens, which is not what was confirmed. Nothing was approved.`,
        );
      await approve(app.as(visitor.identity), ref, body.hash);
      const now = await sealedBatch(ref);
      return { summary: await board.summaryOf({ ref, view: now, dispatched: 0 }) };
    },
  }),
  route('POST /api/approvals/:batch/refuse', 'approver', {
    summary:
      'Refuse a batch that waits for an approval: it is cancelled, and nothing of it is sent. Of a refused retry the dead letters stay dead.',
    params: BatchParams,
    body: RefuseRequest,
    reply: BatchReply,
    async handle({ app, board }, { params, body, visitor }) {
      const ref = await findBatch(app.scripts, params.batch);
      const view = await sealedBatch(ref);
      if (!waitsForApproval(view)) throw notNeeded(ref.id, view);
      await refuse(app.as(visitor.identity), ref, body.hash, body.reason);
      return board.describe(ref);
    },
  }),
];

/** The refusal of an approval that the batch no longer waits for. */
function notNeeded(batch: string, view: StoredBatch): AlmonerError {
  const why = noApprovalWords(view.state, gateReply(view, []));
  return new AlmonerError(
    'ALM_PEOPLE_NOT_NEEDED',
    `Batch ${batch} does not wait for an approval. ${why} Nothing was done.`,
  );
}
