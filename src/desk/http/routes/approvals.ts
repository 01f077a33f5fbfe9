import { AlmonerError } from '../../../core/errors/error.js';
import { findBatch, type StoredBatch } from '../../../ledger/index.js';
import {
  approve,
  changeRequired,
  lessWanted,
  payableOf,
  previewApproval,
  refuse,
  waitsForApproval,
} from '../../../operations/people/approve.js';
import { Tokens } from '../../../operations/people/tokens.js';
import { pickProfile } from '../../../runtime/config/config.js';
import { noSecondWords, requirementWords, whyNotSecond } from '../../../words/people.js';
import {
  ApprovalReply,
  ApprovalsReply,
  ApprovedReply,
  ApproveRequest,
  RefuseRequest,
  RequirementReply,
  RequirementRequest,
} from '../../api/approvals.js';
import { BatchParams, BatchReply } from '../../api/batches.js';
import { RealmParams } from '../../api/overview.js';
import { approvalsReply, previewReply, refuseOtherFirst } from '../../approvals.js';
import { gateReply, manifestReply, sealedBatch } from '../../live/batch-reply.js';
import { route } from '../route.js';

/** The second person's part. */
export const APPROVAL_ROUTES = [
  route('GET /api/approvals', 'viewer', {
    summary: 'What waits for a second person: batches, rules, and realms that are to require less.',
    reply: ApprovalsReply,
    handle: async ({ board }, { visitor }) => approvalsReply(await board.look(), visitor.identity),
  }),
  route('GET /api/approvals/:batch', 'viewer', {
    summary: 'A batch that waits for a second person, with what the first one saw and what is new in it.',
    params: BatchParams,
    reply: ApprovalReply,
    async handle({ app, board, explaining }, { params, visitor }) {
      const ref = await findBatch(app.scripts, params.batch, undefined, { lookingOnly: true });
      // Two files are held side by side for it: one at a time.
      const shown = await explaining.through(() => previewApproval(app, ref));
      const gate = gateReply(shown.view, await new Tokens(app.scripts).list());
      if (gate?.closed !== 'approval') throw notNeeded(ref.id, shown.view);
      return {
        ...previewReply(shown),
        summary: await board.summaryOf({ ref, view: shown.view, dispatched: 0 }),
        manifest: manifestReply(shown.view.manifest),
        gate,
        whyNot: whyNotSecond(visitor.identity, gate.preparer, 'prepared'),
      };
    },
  }),
  route('POST /api/approvals/:batch', 'approver', {
    summary: 'Say go for exactly what was shown, if seal and total are those that were confirmed.',
    params: BatchParams,
    body: ApproveRequest,
    reply: ApprovedReply,
    audit: ({ params }) => ({ what: `said go for batch ${params.batch}`, batch: params.batch }),
    async handle({ app, board }, { params, body, visitor, note }) {
      const ref = await findBatch(app.scripts, params.batch);
      const view = await sealedBatch(ref);
      const payable = await payableOf(app, ref, view);
      const tokens = String(payable.tokens);
      // What was cancelled or sent meanwhile has another total, which is not what there is to say of it.
      if (body.tokens !== tokens && !waitsForApproval(view)) throw notNeeded(ref.id, view);
      if (body.tokens !== tokens)
        throw new AlmonerError(
          'ALM_DESK_CHANGED',
          `What batch ${ref.id} would send adds up to ${tokens}, which is not what was confirmed. Nothing was approved.`,
        );
      note({ batches: [ref.id], orders: payable.orders, tokens });
      const answer = await approve(app.as(visitor.identity), ref, body.seal);
      const now = await sealedBatch(ref);
      return {
        approved: answer === 'approved',
        summary: await board.summaryOf({ ref, view: now, dispatched: 0 }),
      };
    },
  }),
  route('POST /api/approvals/:batch/refuse', 'approver', {
    summary: 'Refuse a batch that waits for a second person: it is cancelled, and nothing of it is sent.',
    params: BatchParams,
    body: RefuseRequest,
    reply: BatchReply,
    audit: ({ params }) => ({ what: `refused batch ${params.batch}`, batch: params.batch }),
    async handle({ app, board }, { params, body, visitor, note }) {
      const ref = await findBatch(app.scripts, params.batch);
      const view = await sealedBatch(ref);
      if (!waitsForApproval(view)) throw notNeeded(ref.id, view);
      const { orders, tokens } = await payableOf(app, ref, view);
      note({ batches: [ref.id], orders, tokens: String(tokens) });
      await refuse(app.as(visitor.identity), ref, body.reason);
      return board.describe(ref);
    },
  }),
  route('POST /api/realms/:realm/requirement', 'operator or approver', {
    summary:
      'Let a realm require only what its profile says, if that is what was shown: one person asks for it, and another one, an approver, asks for the same.',
    params: RealmParams,
    body: RequirementRequest,
    reply: RequirementReply,
    audit: ({ params, body }) => ({
      what: `asked that realm ${params.realm} requires no more than its profile: ${requirementWords(body)}`,
      batch: null,
    }),
    async handle({ app, agreeing }, { params, body, visitor }) {
      const profile = pickProfile(app.config, params.realm);
      const { overTokens, overRows } = profile.approval;
      if (body.overTokens !== overTokens || body.overRows !== overRows)
        throw new AlmonerError(
          'ALM_DESK_CHANGED',
          `The profile of realm ${profile.name} says: ${requirementWords(profile.approval)}. That is not what was confirmed. Nothing was changed.`,
        );
      return agreeing.through(async () => {
        const wanted = (await lessWanted(app)).find(({ realm }) => realm === profile.name);
        refuseOtherFirst(body.asked, wanted?.asked?.who ?? null);
        const { changed, now } = await changeRequired(app.as(visitor.identity), app.books(profile));
        return { changed, now };
      });
    },
  }),
];

function notNeeded(batch: string, view: StoredBatch): AlmonerError {
  const why = noSecondWords(view.state, gateReply(view, []));
  return new AlmonerError(
    'ALM_PEOPLE_NOT_NEEDED',
    `Batch ${batch} waits for no second person. ${why} Nothing was done.`,
  );
}
