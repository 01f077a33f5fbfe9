import { NO_SUMS, opSums, plus } from '../../core/op-sums.js';
import {
  allLedgers,
  lists,
  type RealmLedger,
  readBatch,
  reading,
  type ScriptClient,
} from '../../ledger/index.js';
import { csvLine } from '../../report/csv-files.js';
import { isoTime } from '../../words/spelling.js';
import type { Raw } from '../views/shown.js';
import type { Statement as StatementView } from '../views/totals.js';
import { monthDays } from './periods.js';

/**
 * The statement of a month (UTC): what was paid in each realm and currency, over all batches. An order is of the month in
 * which it was sent. A rehearsal pays nobody and is in it only where it is named.
 */
export type Statement = Raw<StatementView, never, 'tokens' | 'net' | 'openTokens'>;
type StatementLine = Statement['lines'][number];

const OPEN: ReadonlySet<string> = new Set(['unknown', 'doubt']);

export async function readStatement(
  scripts: ScriptClient,
  month: string,
  realm: string | null,
  now: number,
): Promise<Statement> {
  const days = monthDays(month);
  const ledgers = (await allLedgers(scripts)).filter(({ realm: known }) =>
    realm === null ? !known.rehearsal : realm === known.name || realm === known.realmId,
  );
  // Before the sums: an order that settles meanwhile is counted twice, never left out.
  const underWay = await Promise.all(ledgers.map((ledger) => sendingOf(ledger, days.to)));
  const sending = underWay.reduce((sum, orders) => sum + orders, 0);
  const lines = await Promise.all(
    ledgers.map(async (ledger) => linesOf(ledger.realm, await reading.totals.readTotals(ledger, days))),
  );
  const all = lines.flat().sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  const isOver = isoTime(now).slice(0, 'YYYY-MM-DD'.length) > days.to;
  const final = isOver && sending === 0 && all.every(({ open }) => open === 0);
  return { month, at: isoTime(now), final, sending, lines: all };
}

async function sendingOf(ledger: RealmLedger, lastDay: string): Promise<number> {
  let sending = 0;
  for (const ref of await lists.batchesIn(ledger, 'open')) {
    const view = await readBatch(ref);
    const began = view?.startedAt ?? null;
    if (began !== null && isoTime(began).slice(0, lastDay.length) <= lastDay)
      sending += view?.counts.sending ?? 0;
  }
  return sending;
}

function placeOf({ realm, baseUrl, currency }: StatementLine): string {
  return `${realm} ${baseUrl} ${currency ?? ''}`;
}

function linesOf(
  {
    name,
    realmId,
    baseUrl,
    rehearsal,
  }: { name: string; realmId: string; baseUrl: string; rehearsal: boolean },
  sums: readonly reading.Totals[],
): StatementLine[] {
  const currencies = [...new Set(sums.map(({ currency }) => currency))];
  return currencies.map((currency) => {
    let [paid, open, tokens, openTokens] = [0, 0, NO_SUMS, NO_SUMS];
    for (const flow of sums.filter((one) => one.currency === currency).flatMap(({ flows }) => flows)) {
      const orders = flow.entered - flow.left;
      const sum = opSums((op) => (op === flow.op ? flow.tokensEntered - flow.tokensLeft : 0n));
      if (flow.outcome === 'paid') [paid, tokens] = [paid + orders, plus(tokens, sum)];
      if (OPEN.has(flow.outcome)) [open, openTokens] = [open + orders, plus(openTokens, sum)];
    }
    const net = tokens.credit - tokens.debit;
    return { realm: name, realmId, baseUrl, rehearsal, currency, paid, tokens, net, open, openTokens };
  });
}

const COLUMNS = [
  'month',
  'realm',
  'realm_id',
  'address',
  'currency',
  'paid_orders',
  'tokens_given',
  'tokens_taken',
  'tokens_moved',
  'tokens_net',
  'open_orders',
  'open_tokens_given',
  'open_tokens_taken',
  'open_tokens_moved',
  'final',
  'as_of',
];

export function statementCsv({ month, at, final, lines }: Statement): string {
  const rows = lines.map(({ tokens, openTokens, ...line }) => [
    month,
    line.realm,
    line.realmId,
    line.baseUrl,
    line.currency ?? '',
    line.paid,
    String(tokens.credit),
    String(tokens.debit),
    String(tokens.transfer),
    String(line.net),
    line.open,
    String(openTokens.credit),
    String(openTokens.debit),
    String(openTokens.transfer),
    final ? 'yes' : 'no',
    at,
  ]);
  return [COLUMNS, ...rows].map((cells) => csvLine(cells, ',')).join('');
}
