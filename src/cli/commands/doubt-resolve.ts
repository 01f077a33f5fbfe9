import { resolve } from 'node:path';
import { readDecisions } from '../../csv/decisions.js';
import type { ScriptClient } from '../../ledger/index.js';
import { type BatchStatus, batchStatus } from '../../operations/batches/batch-status.js';
import { batchesOf } from '../../operations/dead/retry-discard.js';
import {
  type Arriving,
  arrivingError,
  checkRulings,
  mayArrive,
  type Ruling,
  resolveDoubts,
  rulingsOfFile,
  rulingsOnBatch,
  rulingsOnOrders,
  type Verdict,
} from '../../operations/doubts/resolve.js';
import { counted } from '../../words/spelling.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { confirmRisk } from '../frame/confirm.js';
import { withApp } from '../frame/open-app.js';
import { argumentList, flag, needReason, REASON, text, usage } from '../frame/options.js';
import { batchLines } from '../text/batch-text.js';
import { refusalLines } from '../text/order-text.js';

export const command = defineCommand({
  name: 'doubt resolve',
  description:
    'Ends doubts on your word. --paid ends paid; --unpaid ends exhausted and sends nothing before a `dead retry`; where a request may still arrive, it asks first. All are checked first; one that is wrong stops all.',
  arguments: { ORDER: argumentList('order ids, as `almoner doubt list` prints them') },
  options: {
    batch: text('BATCH', 'all doubts of this batch'),
    file: text('FILE', 'a doubt.csv whose column `decision` says paid or unpaid; empty leaves a doubt alone'),
    paid: flag('they were applied'),
    unpaid: flag('they were not applied'),
    yes: flag('do not ask where a request may still arrive'),
    ...REASON,
  },
  examples: [
    'almoner doubt resolve 7k3m9q2x4v8w-17 --paid --reason "seen in the upstream log"',
    'almoner doubt resolve --file reports/7k3m9q2x4v8w/doubt.csv --reason "checked with support"',
  ],
  run: async (context) => {
    const { output, args, options, cwd, global } = context;
    const asked = readAsked(args.ORDER, options);
    const why = needReason(options.reason);
    return withApp<ExitStatus>(context, 'doubt-resolve', async (app) => {
      const rulings = await checkRulings(await rulingsOf(app.scripts, asked, cwd, global.realm));
      if (rulings.length === 0)
        throw usage(
          'There is no doubt to resolve. Nothing was done.',
          'List them with `almoner doubt list`.',
        );
      const arriving = await mayArrive(app, rulings);
      if (arriving.length > 0) await confirmRisk(arrivingError(arriving), options.yes);
      const { resolved, missed } = await resolveDoubts(app, rulings, { who: app.config.operator, why });
      const refs = batchesOf(rulings.map(({ place }) => place));
      const statuses = await Promise.all(refs.map((ref) => batchStatus(ref)));
      const paid = resolved.filter(({ state }) => state === 'paid').length;
      output.print({
        json: { resolved, missed, mayArrive: arriving, batches: statuses },
        text: [
          `${counted(resolved.length, 'doubt')} resolved: ${paid} paid, ${resolved.length - paid} unpaid. Nothing was sent.`,
          ...refusalLines(missed),
          ...arrivingLines(arriving),
          ...statuses.flatMap((status) => batchLines(status, output.colours)),
        ],
        next: next(statuses, resolved.length - paid),
      });
      return missed.length > 0 ? 4 : 0;
    });
  },
});

type Asked = {
  readonly orders: readonly string[];
  readonly batch: string | undefined;
  readonly file: string | undefined;
  readonly verdict: Verdict | null;
};

function readAsked(
  orders: readonly string[],
  options: { batch: string | undefined; file: string | undefined; paid: boolean; unpaid: boolean },
): Asked {
  const { batch, file, paid, unpaid } = options;
  const ways = [orders.length > 0, batch !== undefined, file !== undefined].filter(Boolean).length;
  if (ways !== 1) throw usage('Give order ids, or --batch, or --file: exactly one. Nothing was done.');
  if (paid && unpaid) throw usage('Give --paid or --unpaid, not both. Nothing was done.');
  if (!paid && !unpaid && file === undefined)
    throw usage('Say --paid or --unpaid. Nothing was done.', 'See the evidence with `almoner doubt show`.');
  return { orders, batch, file, verdict: paid ? 'paid' : unpaid ? 'unpaid' : null };
}

async function rulingsOf(
  scripts: ScriptClient,
  { orders, batch, file, verdict }: Asked,
  cwd: string,
  realm: string | undefined,
): Promise<Ruling[]> {
  if (file !== undefined)
    return rulingsOfFile(scripts, await readDecisions(resolve(cwd, file)), verdict, realm);
  if (verdict === null) throw new Error('only a file may leave the verdict open');
  if (batch !== undefined) return rulingsOnBatch(scripts, batch, verdict, realm);
  return rulingsOnOrders(scripts, orders, verdict, realm);
}

function arrivingLines(arriving: readonly Arriving[]): string[] {
  const last = arriving
    .map(({ until }) => until)
    .sort()
    .at(-1);
  if (last === undefined) return [];
  const which = counted(arriving.length, 'unpaid order');
  return [`${which} may still arrive: they keep their references and cannot be paid again before ${last}.`];
}

function next(statuses: readonly BatchStatus[], unpaid: number): string {
  const [status] = statuses;
  const batch = statuses.length === 1 ? (status?.batch ?? 'BATCH') : 'BATCH';
  if (statuses.some(({ counts }) => (counts.doubt ?? 0) > 0)) return `almoner doubt list --batch ${batch}`;
  if (unpaid > 0) return `almoner dead retry --batch ${batch} sends the unpaid ones again`;
  return `almoner report ${batch}`;
}
