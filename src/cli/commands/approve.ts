import { inCurrency } from '../../core/currencies.js';
import type { RealmProfile } from '../../core/profile.js';
import { findBatch, openDead } from '../../ledger/index.js';
import { type BatchStatus, batchStatus } from '../../operations/batches/batch-status.js';
import {
  type Approval,
  approve as approveBatch,
  changeRequired,
  previewApproval,
  waitingForApproval,
} from '../../operations/people/approve.js';
import { isRequired } from '../../operations/people/who.js';
import type { App } from '../../runtime/app.js';
import { amountsWords } from '../../words/amounts.js';
import { requirementWords, retryWords } from '../../words/people.js';
import { counted, utcMinute } from '../../words/spelling.js';
import type { CommandBase } from '../frame/command.js';
import { confirmTotal } from '../frame/confirm.js';
import { storeCommand } from '../frame/open-app.js';
import { flag, optionalArgument, usage, YES } from '../frame/options.js';
import { batchLines, batchNext } from '../text/batch-text.js';
import { approvalLines } from '../text/preview-text.js';

/** The second person's go. */
export const approve = storeCommand({
  name: 'approve',
  description:
    'Says go for a batch that somebody else has prepared, where its realm requires a second person: shows what it would do, and asks for the total. Who you are is known by ALMONER_TOKEN or ALMONER_TOKEN_FILE. Without a batch: what waits.',
  arguments: { BATCH: optionalArgument('a batch id, a unique prefix of one, or `last`') },
  options: {
    ...YES,
    requirement: flag(
      'instead: let the realm require only what its profile says now; two people have to ask for it',
    ),
  },
  examples: ['almoner approve', 'ALMONER_TOKEN_FILE=~/.almoner-token almoner approve last'],
  run: (context) => async (app) => {
    const { args, options, global } = context;
    if (options.requirement) {
      if (args.BATCH !== undefined) throw usage('--requirement is of a realm, not of a batch');
      return changeRequirement(context, app);
    }
    if (args.BATCH === undefined) return listWaiting(context, app);
    const ref = await findBatch(app.scripts, args.BATCH, global.realm);
    const shown = await previewApproval(app, ref);
    for (const line of approvalLines(shown, app.store.address, context.output.colours))
      context.output.line(line);
    if (shown.orders > 0) await confirmTotal(context, totalOf(shown), options.yes, false);
    const answer = await approveBatch(app, ref, shown.view.sealHash);
    const status = await batchStatus(ref, app.config);
    context.output.print({
      json: { ...status, approved: answer === 'approved' },
      text: [
        answer === 'approved'
          ? `Approved. ${shown.isRetry ? retryWords(shown.orders) : beginning(status)}`
          : 'Nobody knew who had prepared it, so you count as the first person: one more has to say go.',
        ...batchLines(status, context.output.colours),
      ],
      next: batchNext(status),
    });
  },
});

function beginning({ waiting }: BatchStatus): string {
  const [first] = waiting;
  return first === undefined ? 'It begins as soon as a worker takes it.' : first.message;
}

function totalOf({ tokens, amounts }: Approval) {
  return { payableTokens: tokens, amounts };
}

async function listWaiting({ output }: CommandBase, app: App): Promise<void> {
  const waiting = await waitingForApproval(app);
  const batches = waiting.map(({ ref, view, view: { manifest, gate, retry, counts } }) => ({
    batch: ref.id,
    realm: manifest.realm,
    source: manifest.source,
    preparer: (gate ?? retry)?.preparer ?? null,
    createdAt: new Date(manifest.createdAt).toISOString(),
    orders: retry === null ? (counts.planned ?? 0) : openDead(view),
    amounts: amountsWords(manifest.tokens),
    currency: manifest.currency,
    retry: retry !== null,
  }));
  output.print({
    json: { batches },
    text:
      batches.length === 0
        ? 'Nothing waits for a second person.'
        : batches.map(
            ({ batch, realm, source, preparer, createdAt, orders, amounts, currency, retry }) =>
              `${batch}  ${realm}  ${source}: ${retry ? `${counted(orders, 'dead letter')} to be retried` : `${counted(orders, 'order')}, ${amounts} tokens`}${inCurrency(currency)}, prepared by ${preparer ?? 'nobody known'} on ${utcMinute(Date.parse(createdAt))}`,
          ),
    next: batches.length === 0 ? null : 'almoner approve BATCH',
  });
}

async function changeRequirement(context: CommandBase, app: App): Promise<void> {
  const profile: RealmProfile = await context.profile();
  const { changed, wanted, now } = await changeRequired(app, app.books(profile));
  context.output.print({
    json: { realm: profile.name, changed, wanted, now },
    text: changed
      ? `Realm ${profile.name}: ${requirementWords(now)}.`
      : `You are the first to ask that realm ${profile.name} requires this: ${requirementWords(wanted)}. Until another person, an approver, asks for the same, it stays as it is: ${requirementWords(now)}.`,
    next: changed || !isRequired(now) ? null : 'another person: almoner approve --requirement',
  });
}
