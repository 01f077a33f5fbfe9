import { FIND_BY, FIND_TEXT_MAX } from '../../core/find-meanings.js';
import { oneLine } from '../../core/one-line.js';
import { Find, type FoundBatches, type FoundOrders, foundOrder } from '../../operations/orders/find.js';
import type { FoundBatch } from '../../operations/views/batch.js';
import { withStopSignals } from '../../runtime/stop-signals.js';
import { counted, grouped, utcMinute } from '../../words/spelling.js';
import { standingWords } from '../../words/states.js';
import { storeCommand } from '../frame/open-app.js';
import { argument, choice, usage, wholeNumber } from '../frame/options.js';
import { letterLine, slowProgress } from '../text/order-text.js';

/** The longest piece of a search before the command checks for an interrupt and reports how far it is. */
const LOOK_MS = 50;
const LIMIT_USUAL = 50;

type Order = FoundOrders['found'][number];

/** Searches all batches and orders, as the search page of the desk does. */
export const find = storeCommand({
  name: 'find',
  description:
    'Searches all batches, archives included, newest first. TEXT is the beginning of a batch or order id, a part of a file’s name, a whole reference, a member id, an amount (-5, 1,000), or a day in UTC: 2026-11-03, 20261103, today, yesterday. Each hit says what it matched. An order belongs to the days on which it was sent or settled, a batch to those on which it was made, started or finished.',
  arguments: { TEXT: argument('what to look for') },
  options: {
    by: choice(FIND_BY, 'only this meaning'),
    limit: wholeNumber('N', `how many batches and orders to list; ${LIMIT_USUAL} where nothing is said`, {
      min: 1,
      max: 10_000,
    }),
  },
  examples: ['almoner find invoice-118', 'almoner find 2026-11-03 --by day', 'almoner find 1,000'],
  run: ({ output, args, options, global }) => {
    const text = args.TEXT.trim();
    const { by, limit = LIMIT_USUAL } = options;
    if (text === '' || text.length > FIND_TEXT_MAX)
      throw usage(`expected a text of 1 to ${FIND_TEXT_MAX} characters to look for`);
    return (app) =>
      withStopSignals(async (stop) => {
        const search = Find.open(app.scripts, text, { by, realm: global.realm });
        const batches = await collectBatches(search, limit + 1, stop);
        const seen = await collect(search, limit, stop, output.note);
        const { member, day } = search.meanings;
        const shown = batches.slice(0, limit);
        const isMore = seen.more || shown.length < batches.length;
        output.print({
          json: {
            text,
            day: day?.name ?? null,
            batches: shown,
            orders: seen.orders.map(foundOrder),
            more: isMore,
            stopped: seen.stopped,
            unsearched: seen.unsearched,
            rows: { scanned: seen.scanned, of: seen.of },
          },
          text: [
            ...headLines(text, { shown: shown.length, isMore: shown.length < batches.length }, seen),
            ...shown.map(batchLine),
            ...(shown.length < batches.length
              ? [`  More batches matched: only the first ${grouped(limit)} are listed.`]
              : []),
            ...seen.orders.map((hit) => `${letterLine(foundOrder(hit))}  by ${hit.by.join(', ')}`),
            ...(seen.more ? [`  More matched: only the first ${counted(limit, 'order')} are listed.`] : []),
            ...seen.unsearched.map(({ message }) => `Not searched: ${message}`),
          ],
          next: isMore
            ? `--limit ${limit * 10} lists more; --by ${FIND_BY.join('|')} and --realm NAME narrow it`
            : nextOf(batches, seen.orders, member),
        });
        return seen.stopped ? 130 : 0;
      });
  },
});

/** Reads matching batches piece by piece, up to `most` of them. */
async function collectBatches(search: Find, most: number, stop: AbortSignal): Promise<FoundBatch[]> {
  const found: FoundBatch[] = [];
  let from: string | null = null;
  do {
    const untilMs = performance.now() + LOOK_MS;
    const page: FoundBatches = await search.batches({ from, limit: most - found.length, untilMs });
    found.push(...page.found);
    from = page.next;
  } while (from !== null && found.length < most && !stop.aborted);
  return found;
}

/** Reads matching orders piece by piece, up to the limit. It reads one more to know whether others match. */
async function collect(search: Find, limit: number, stop: AbortSignal, note: (text: string) => void) {
  const tell = slowProgress(note, (done, of) => `looked at ${grouped(done)} of ${counted(of, 'row')}`);
  const orders: Order[] = [];
  const unsearched = new Map<string, FoundOrders['unsearched'][number]>();
  let [scanned, of] = [0, 0];
  let from: FoundOrders['next'] = null;
  do {
    const untilMs = performance.now() + LOOK_MS;
    const page: FoundOrders = await search.orders({
      from,
      limit: limit + 1 - orders.length,
      untilMs,
      onScanned: tell,
    });
    orders.push(...page.found);
    for (const one of page.unsearched) unsearched.set(one.batch, one);
    ({ next: from, scanned, of } = page);
  } while (from !== null && orders.length <= limit && !stop.aborted);
  const more = orders.length > limit;
  const stopped = stop.aborted && from !== null && !more;
  return { orders: orders.slice(0, limit), more, stopped, unsearched: [...unsearched.values()], scanned, of };
}

type Seen = Awaited<ReturnType<typeof collect>>;

function headLines(
  text: string,
  batches: { shown: number; isMore: boolean },
  { orders, more, stopped, scanned, of }: Seen,
): string[] {
  const quoted = JSON.stringify(text);
  const rows = `${grouped(scanned)} of ${counted(of, 'row')}`;
  const found = `${batches.isMore ? 'more than ' : ''}${counted(batches.shown, 'batch', 'batches')} and ${more ? 'more than ' : ''}${counted(orders.length, 'order')}`;
  if (stopped) return [`Stopped after ${rows}: ${found} matched ${quoted} so far.`];
  if (batches.shown + orders.length === 0) return [`No batch or order in this ledger matches ${quoted}.`];
  return [`${found} matched ${quoted}, newest batch first:`];
}

/** One found batch on one line. */
function batchLine(hit: FoundBatch): string {
  const where = hit.rehearsal ? 'REHEARSAL' : hit.realm;
  const standing = `${standingWords(hit)}${hit.archived ? ', archived' : ''}`;
  const made = `made ${utcMinute(Date.parse(hit.createdAt))}`;
  return `  ${hit.batch}  ${where}  ${oneLine(hit.source)}  ${counted(hit.rows, 'row')}  ${standing}  ${made}  by ${hit.by.join(', ')}`;
}

function nextOf(
  batches: readonly FoundBatch[],
  orders: readonly Order[],
  member: string | null,
): string | null {
  if (member !== null && orders.some(({ by }) => by.includes('member')))
    return `almoner history ${member} tells all that touched the member`;
  const [order] = orders;
  if (order !== undefined) return `almoner dead show ${order.row.order} tells what it met`;
  const [batch] = batches;
  return batch === undefined ? null : `almoner status ${batch.batch}`;
}
