import type { BatchRecord, RowView } from '../ledger/views.js';
import { csvLine } from './csv-line.js';
import { type PublicLine, type PublicSums, publicPage } from './html/public-page.js';
import { Reconciliation } from './reconciliation.js';
import { RunFacts } from './run-facts.js';
import { isoTime } from './spelling.js';
import type { Staging } from './staging.js';

const LINES_ON_PAGE_MAX = 200;

/**
 * What a community may see: member, tokens, reason, time and sums of what was paid, and nothing else. Not
 * who failed and why, no balances, no columns of the input, no realm, key's place or operator. A transfer
 * shows its giver only: who received it is not on the list of what may be published, and a reader must not
 * learn from a public page who paid whom. A rehearsal says so, because its sums are not real.
 */
export async function writePublicReport(record: BatchRecord, staging: Staging): Promise<void> {
  const { manifest } = record.batch;
  const tie = new Reconciliation();
  const facts = new RunFacts();
  const shown: PublicLine[] = [];

  const list = await staging.create('public.csv');
  await list.add(csvLine(['member', 'tokens', 'reason', 'time'], manifest.delimiter));
  for await (const row of record.rows) {
    tie.add(row);
    facts.add(row);
    const line = publicLine(row);
    if (line === undefined) continue;
    if (shown.length < LINES_ON_PAGE_MAX) shown.push(line);
    const full = list.add(csvLine([line.member, line.tokens, line.reason, line.time], manifest.delimiter));
    if (full !== undefined) await full;
  }
  await list.finish();
  tie.check(record.batch);

  const sums = (op: 'credit' | 'debit' | 'transfer'): PublicSums => ({
    orders: facts.paid[op].orders,
    tokens: String(facts.paid[op].tokens),
  });
  const totals = { given: sums('credit'), taken: sums('debit'), passedOn: sums('transfer') };
  await staging.write('public.html', publicPage({ rehearsal: manifest.rehearsal, totals, shown }));
  const document = { ...(manifest.rehearsal ? { rehearsal: true } : {}), sums: totals };
  await staging.write('public.json', `${JSON.stringify(document, null, 2)}\n`);
}

function publicLine(row: RowView): PublicLine | undefined {
  if (row.state !== 'paid' || row.member === null || row.tokens === null) return undefined;
  return {
    member: row.member,
    tokens: row.op === 'credit' ? row.tokens : -row.tokens,
    reason: row.reason,
    time: isoTime(row.settledAt),
  };
}
