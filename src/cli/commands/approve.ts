import { inCurrency } from '../../core/currencies.js';
import { findBatch } from '../../ledger/index.js';
import {
  type Approval,
  approve as approveBatch,
  askedBy,
  payableOf,
  previewApproval,
  waitingForApproval,
} from '../../operations/approvals/approvals.js';
import { batchStatus } from '../../operations/batches/batch-status.js';
import type { BatchStatus } from '../../operations/views/batch.js';
import type { App } from '../../runtime/app.js';
import { amountsWords } from '../../words/amounts.js';
import { retryWords } from '../../words/people.js';
import { counted, utcMinute } from '../../words/spelling.js';
import type { CommandBase } from '../frame/command.js';
import { confirmTotal } from '../frame/confirm.js';
import { storeCommand } from '../frame/open-app.js';
import { optionalArgument, YES } from '../frame/options.js';
import { batchLines, batchNext } from '../text/batch-text.js';
import { approvalLines } from '../text/preview-text.js';

/** Approves a batch or a retry that another person prepared. It shows the batch first and asks for the total. */
export const approve = storeCommand({
  name: 'approve',
  description:
    'Approves a batch that another person prepared, or a retry of dead letters that another person asked for: shows what it would do, and asks for the total. Who you are is known by ALMONER_TOKEN or ALMONER_TOKEN_FILE. Without a batch: what waits.',
  arguments: { BATCH: optionalArgument('a batch id, a unique prefix of one, or `last`') },
  options: YES,
  examples: ['almoner approve', 'ALMONER_TOKEN_FILE=~/.almoner-token almoner approve last'],
  run: (context) => async (app) => {
    const { args, options, global } = context;
    if (args.BATCH === undefined) return listWaiting(context, app);
    const ref = await findBatch(app.scripts, args.BATCH, global.realm);
    const shown = await previewApproval(app, ref);
    for (const line of approvalLines(shown, app.store.address, context.output.colours))
      context.output.line(line);
    if (shown.orders > 0) await confirmTotal(context, totalOf(shown), options.yes, false);
    await approveBatch(app, ref, shown.hash);
    const status = await batchStatus(ref, app.config);
    context.output.print({
      json: { ...status, approved: true },
      text: [
        `Approved. ${shown.letters === null ? beginning(status) : retryWords(shown.orders)}`,
        ...batchLines(status, context.output.colours),
      ],
      next: batchNext(status),
    });
  },
});

/** Says when an approved batch begins. */
function beginning({ waiting }: BatchStatus): string {
  const [first] = waiting;
  return first === undefined ? 'It begins as soon as a worker takes it.' : first.message;
}

function totalOf({ tokens, amounts }: Approval) {
  return { payableTokens: tokens, amounts };
}

/** Prints the batches and retries that wait for a second person. */
async function listWaiting({ output }: CommandBase, app: App): Promise<void> {
  const waiting = await waitingForApproval(app);
  const batches = waiting.map(({ ref, view, view: { manifest, retry } }) => ({
    batch: ref.id,
    realm: manifest.realm,
    source: manifest.source,
    preparer: askedBy(view),
    createdAt: new Date(manifest.createdAt).toISOString(),
    orders: payableOf(view).orders,
    amounts:
      manifest.duplicates === 0 && payableOf(view).orders === manifest.rows
        ? `${amountsWords(manifest.tokens)} tokens`
        : counted(payableOf(view).tokens, 'token'),
    currency: manifest.currency,
    retry: retry !== null,
  }));
  output.print({
    json: { batches },
    text:
      batches.length === 0
        ? 'Nothing waits for an approval.'
        : batches.map(
            ({ batch, realm, source, preparer, createdAt, orders, amounts, currency, retry }) =>
              `${batch}  ${realm}  ${source}: ${retry ? `${counted(orders, 'dead letter')} to be retried` : `${counted(orders, 'order')}, ${amounts}`}${inCurrency(currency)}, ${retry ? 'asked for' : 'prepared'} ${preparer === null ? 'without a token' : `by ${preparer}`} on ${utcMinute(Date.parse(createdAt))}`,
          ),
    next: batches.length === 0 ? null : 'almoner approve BATCH',
  });
}
