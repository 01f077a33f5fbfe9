import { resolve as resolvePath } from 'node:path';
import { oneLine } from '../../core/one-line.js';
import type { ScriptClient } from '../../ledger/index.js';
import { batchStatus } from '../../operations/batches/batch-status.js';
import { batchesOf } from '../../operations/dead/retry-discard.js';
import { type DoubtEvidence, doubtEvidence } from '../../operations/doubts/evidence.js';
import {
  type Arriving,
  arrivingError,
  checkRaisable,
  checkRulings,
  mayArrive,
  raiseDoubts,
  resolveDoubts,
} from '../../operations/doubts/resolve.js';
import {
  type Ruling,
  rulingsOfFile,
  rulingsOnBatch,
  rulingsOnOrders,
  type Verdict,
} from '../../operations/doubts/rulings.js';
import { deadLetters } from '../../operations/orders/dead-letters.js';
import { doubtName, findOrder, orderFinder } from '../../operations/orders/find-orders.js';
import type { BatchStatus } from '../../operations/views/batch.js';
import type { OrderRow } from '../../operations/views/order.js';
import { effectWords } from '../../words/amounts.js';
import { counted, grouped } from '../../words/spelling.js';
import { confirmRisk } from '../frame/confirm.js';
import { storeCommand } from '../frame/open-app.js';
import { argument, argumentList, flag, needReason, REASON, text, usage } from '../frame/options.js';
import { batchLines } from '../text/batch-text.js';
import { detailLines, headLines, LetterSummary, refusalLines, slowProgress } from '../text/order-text.js';

/** Lists the doubts: orders that almoner cannot prove paid or unpaid. */
export const list = storeCommand({
  name: 'doubt list',
  description: 'Orders that almoner cannot prove paid or unpaid. They wait for an operator.',
  options: { batch: text('BATCH', 'only of this batch') },
  examples: ['almoner doubt list', 'almoner doubt list --batch last'],
  run: (context) => async (app) => {
    const { output, options } = context;
    const summary = new LetterSummary();
    const orders: OrderRow[] = [];
    const filter = { batch: options.batch, realm: context.global.realm, state: 'doubt' } as const;
    for await (const letter of deadLetters(app.scripts, filter)) {
      summary.add(letter);
      if (output.json) orders.push(letter);
    }
    output.print({
      json: { orders },
      text: summary.count === 0 ? 'There are no doubts.' : summary.lines('doubt'),
      next: summary.count === 0 ? null : nextOfList(summary),
    });
  },
});

function nextOfList({ shown, batches }: LetterSummary): string {
  const [batch = 'BATCH'] = batches.size === 1 ? batches : [];
  return `almoner doubt show ${shown[0]?.order ?? 'ORDER'}; almoner doubt resolve ORDER --paid|--unpaid --reason …, or fill in doubt.csv of almoner report ${batch} and give it with --file`;
}

/** Shows the evidence about one doubt: balances, later orders and request ids. */
export const show = storeCommand({
  name: 'doubt show',
  description:
    'The evidence about one doubt, or about an order still unknown: balances seen, what they should be, later orders on the member, and what to look for upstream.',
  arguments: { ORDER: argument('an order id, as `almoner doubt list` prints it') },
  examples: ['almoner doubt show 7k3m9q2x4v8w-17'],
  run: (context) => async (app) => {
    const { output, args } = context;
    const place = await findOrder(app.scripts, args.ORDER, context.global.realm);
    const tell = slowProgress(
      output.note,
      (done, of) => `looked at ${grouped(done)} of ${counted(of, 'row')}`,
    );
    const doubt = await doubtEvidence(app, place, ({ rows, ofRows }) => tell(rows, ofRows));
    output.print({
      json: doubt,
      text: [
        ...headLines(doubt, output.colours),
        `  ${doubt.state === 'doubt' ? `in doubt as ${doubt.doubt ?? ''}` : doubt.state}: ${doubt.message ?? ''} [${doubt.class ?? ''}]`,
        ...(doubt.currency === null ? [] : [`  Balances are of ${doubt.currency}.`]),
        ...upstreamLines(doubt),
        ...doubt.members.flatMap((member) => memberLines(member, doubt.notRead)),
        ...laterLines(doubt),
        ...(doubt.looksLike === null
          ? []
          : [`It looks ${doubt.looksLike}, if nothing else moved these members at that time.`]),
        'What it met:',
        ...doubt.history.flatMap(detailLines),
      ],
      next:
        doubt.state === 'doubt'
          ? `almoner doubt resolve ${doubtName(doubt.order, doubt.doubt)} --paid|--unpaid --reason …`
          : `almoner status ${doubt.batch}; where it stands still, almoner doubt raise ${doubt.order} --reason …`,
    });
  },
});

/** Request ids and minutes, to look an attempt up in the realm's own log. */
function upstreamLines({ sent }: DoubtEvidence): string[] {
  if (sent === null) return [];
  return [
    `Look upstream for: request id ${sent.requestId ?? 'none'}, sent at ${sent.minute}, key ${sent.key}`,
    ...(sent.body === null || sent.body === '' ? [] : [`  the answer was: ${oneLine(sent.body)}`]),
  ];
}

/** The balances of a member: last seen, expected if paid, expected if unpaid, and now. */
function memberLines(member: DoubtEvidence['members'][number], notRead: string | null): string[] {
  const { lastSeen } = member;
  const now = member.now ?? `not known (${notRead ?? 'it could not be read'})`;
  return [
    `${member.role === 'member' ? 'Member' : 'Recipient'} ${member.member} (${member.change}):`,
    `  last balance seen before  ${lastSeen === null ? 'none' : `${lastSeen.balance} (${lastSeen.from}, ${lastSeen.at})`}`,
    `  should be if paid         ${member.ifPaid ?? `not known: the balance before ${member.change}`}`,
    `  should be if unpaid       ${member.ifUnpaid ?? 'not known: the balance before'}`,
    `  when the doubt arose      ${member.whenDoubtArose ?? 'not read'}`,
    `  now                       ${now}`,
  ];
}

/** Later orders on the same members, which make a balance harder to interpret. */
function laterLines({ later }: DoubtEvidence): string[] {
  if (later.length === 0) return ['No later order in this ledger moves them.'];
  const more = later.length - LATER_SHOWN;
  return [
    'Later orders on them, which moved the balance too, or may:',
    ...later
      .slice(0, LATER_SHOWN)
      .map((each) => `  ${each.at}  ${each.order}  ${effectWords(each, each.touched)}  ${each.state}`),
    ...(more > 0 ? [`  … and ${grouped(more)} more`] : []),
  ];
}

const LATER_SHOWN = 20;

/** Makes a doubt of an order that stays unknown, so that a person can decide it. */
export const raise = storeCommand({
  name: 'doubt raise',
  description:
    'Makes doubts of orders that stay unknown, so that you can decide them. almoner does not send them again by itself. One wrong order stops all.',
  arguments: { ORDER: argumentList('order ids, as `almoner status BATCH` and results.csv name them') },
  options: REASON,
  examples: ['almoner doubt raise 7k3m9q2x4v8w-17 --reason "the realm is gone for good"'],
  run: ({ output, args, options, global }) => {
    if (args.ORDER.length === 0) throw usage('Name the orders. Nothing was done.');
    const why = needReason(options.reason);
    return async (app) => {
      const named = await Promise.all(args.ORDER.map(orderFinder(app.scripts, global.realm)));
      const places = await checkRaisable(named);
      if (places.length === 0)
        throw usage('They are in doubt already. Nothing was done.', 'List them with `almoner doubt list`.');
      const { raised, missed } = await raiseDoubts(app, places, { who: app.config.operator, why });
      const statuses = await Promise.all(batchesOf(places).map((ref) => batchStatus(ref, app.config)));
      output.print({
        json: { raised, missed, batches: statuses },
        text: [
          `${counted(raised.length, 'order is', 'orders are')} in doubt now. Nothing was sent.`,
          ...refusalLines(missed),
          ...statuses.flatMap((status) => batchLines(status, output.colours)),
        ],
        next: raised[0] === undefined ? 'almoner doubt list' : `almoner doubt show ${raised[0]}`,
      });
      return missed.length > 0 ? 4 : 0;
    };
  },
});

/** Ends doubts as paid or unpaid. `--unpaid` sends nothing: only a `dead retry` does. */
export const resolve = storeCommand({
  name: 'doubt resolve',
  description:
    'Ends doubts on your word. --paid ends paid; --unpaid ends exhausted and sends nothing before a `dead retry`; where a request may still arrive, it asks first. All are checked first; one that is wrong stops all.',
  arguments: {
    ORDER: argumentList(
      'order ids, as `almoner doubt list` prints them; ORDER:DOUBT where an order was in doubt before',
    ),
  },
  options: {
    batch: text('BATCH', 'all doubts of this batch'),
    file: text(
      'FILE',
      'a doubt.csv whose column `decision` says paid or unpaid, of the doubt in `almoner_doubt`; empty leaves it alone',
    ),
    paid: flag('they were applied'),
    unpaid: flag('they were not applied'),
    yes: flag('do not ask where a request may still arrive'),
    ...REASON,
  },
  examples: [
    'almoner doubt resolve 7k3m9q2x4v8w-17 --paid --reason "seen in the upstream log"',
    'almoner doubt resolve --file reports/7k3m9q2x4v8w/doubt.csv --reason "checked with support"',
  ],
  run: (context) => {
    const { output, args, options, cwd, global } = context;
    const asked = readAsked(args.ORDER, options);
    const why = needReason(options.reason);
    return async (app) => {
      const { given, undecided } = await rulingsOf(app.scripts, asked, cwd, global.realm);
      const rulings = await checkRulings(given);
      if (rulings.length === 0)
        throw usage(
          `${whyNothing(given.length, undecided)} Nothing was done.`,
          'List what is in doubt with `almoner doubt list`.',
        );
      const arriving = await mayArrive(app, rulings);
      if (arriving.length > 0) await confirmRisk(context, arrivingError(arriving), options.yes);
      const { resolved, missed } = await resolveDoubts(app, rulings, { who: app.config.operator, why });
      const refs = batchesOf(rulings.map(({ place }) => place));
      const statuses = await Promise.all(refs.map((ref) => batchStatus(ref, app.config)));
      const paid = resolved.filter(({ state }) => state === 'paid').length;
      output.print({
        json: { resolved, missed, mayArrive: arriving, batches: statuses },
        text: [
          `${counted(resolved.length, 'doubt')} resolved: ${paid} paid, ${resolved.length - paid} unpaid. Nothing was sent.`,
          ...refusalLines(missed),
          ...arrivingLines(arriving),
          ...statuses.flatMap((status) => batchLines(status, output.colours)),
        ],
        next: nextOfResolve(statuses, resolved.length - paid, arriving),
      });
      return missed.length > 0 ? 4 : 0;
    };
  },
});

type Asked = {
  readonly orders: readonly string[];
  readonly batch: string | undefined;
  readonly file: string | undefined;
  readonly verdict: Verdict | null;
};

/** Reads which doubts are meant: order ids, a batch, or a decisions file. */
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
): Promise<{ given: Ruling[]; undecided: number }> {
  if (file !== undefined) {
    // Loaded only here, because the other commands of this module read no CSV.
    const { readDecisions } = await import('../../csv/decisions.js');
    const lines = await readDecisions(resolvePath(cwd, file));
    const given = await rulingsOfFile(scripts, lines, verdict, realm);
    return { given, undecided: lines.length - given.length };
  }
  if (verdict === null) throw new Error('only a file may leave the verdict open');
  const given =
    batch === undefined
      ? await rulingsOnOrders(scripts, orders, verdict, realm)
      : await rulingsOnBatch(scripts, batch, verdict, realm);
  return { given, undecided: 0 };
}

/** Says why no doubt is left to resolve among the orders that were named. */
function whyNothing(before: number, undecided: number): string {
  const decided = `${counted(before, 'order was', 'orders were')} decided so before`;
  if (undecided > 0)
    return `${decided}, ${counted(undecided, 'row has', 'rows have')} no decision in the file.`;
  return before > 0 ? `${decided}.` : 'There is no doubt to resolve.';
}

/** Orders sent so recently that the realm may still apply them. */
function arrivingLines(arriving: readonly Arriving[]): string[] {
  const untils = arriving.map(({ until }) => until).sort();
  const [first, last] = [untils[0], untils.at(-1)];
  if (first === undefined) return [];
  const [these, them] =
    untils.length === 1 ? ['this request', 'it'] : [`${untils.length} of these requests`, 'them'];
  const when =
    first === last ? `after ${last}` : `one by one, the first after ${first}, the last after ${last}`;
  return [`The realm may still apply ${these}. You can retry ${them} ${when}.`];
}

function nextOfResolve(
  statuses: readonly BatchStatus[],
  unpaid: number,
  arriving: readonly Arriving[],
): string {
  const [status] = statuses;
  const batch = statuses.length === 1 ? (status?.batch ?? 'BATCH') : 'BATCH';
  if (statuses.some(({ counts }) => (counts.doubt ?? 0) > 0)) return `almoner doubt list --batch ${batch}`;
  const last = arriving
    .map(({ until }) => until)
    .sort()
    .at(-1);
  const from = last === undefined ? '' : `after ${last}: `;
  if (unpaid > 0) return `${from}almoner dead retry --batch ${batch} sends the unpaid orders again`;
  return `almoner report ${batch}`;
}
