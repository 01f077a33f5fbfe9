import { openCount } from '../core/states.js';
import type { BatchRecord, RowView } from '../ledger/index.js';
import { isoTime } from '../words/spelling.js';
import {
  auditCsv,
  csvLine,
  FILE_OF,
  fileHeader,
  fileLine,
  REPORT_FILES,
  type ReportFile,
  resultsHeader,
  resultsLine,
} from './csv-files.js';
import { keepEarlierReport } from './earlier-report.js';
import { type PublicLine, type PublicSums, publicPage } from './html/page.js';
import { reportPage } from './html/report-page.js';
import { Reconciliation } from './reconciliation.js';
import { RunFacts } from './run-facts.js';
import { type FileFacts, Staging, type WholeFile } from './staging.js';
import { summarize } from './summarize.js';

/** Where and how to write a report. */
type ReportOptions = {
  /** The reports folder. Each batch gets its own folder in it. */
  readonly folder: string;
  /**
   * If true, the report holds only member, tokens, reason, time and sums. It is written to a folder `public` inside
   * the batch's own.
   */
  readonly public?: boolean;
  /** The current time, used only to judge the age of files from killed processes. No report contains it. */
  readonly now: number;
};

/**
 * Writes the report of a batch, from Redis or from an archive, at any time. The result depends only on the record:
 * the same ledger gives the same bytes. Rows stream through once and are never held in memory. The report appears
 * only when all files are written and the sums tie. After any failure the former report remains.
 */
export async function writeReport(
  record: BatchRecord,
  options: ReportOptions,
): Promise<{ folder: string; files: string[] }> {
  const { folder: root, now, public: isPublic = false } = options;
  const { batch } = record.batch.manifest;
  const staging = await Staging.begin({ root, batch, inside: isPublic ? 'public' : '.', now });
  try {
    await (isPublic ? writePublicReport(record, staging) : writeFullReport(record, staging));
    await keepEarlierReport(staging.root, record.batch.manifest);
    return { folder: staging.target, files: await staging.publish() };
  } catch (error) {
    await staging.discard();
    throw error;
  }
}

/**
 * Writes all files of the report, in the order in which they will replace older ones: the rows first, the summary
 * last.
 */
async function writeFullReport(record: BatchRecord, staging: Staging): Promise<void> {
  const { batch } = record;
  const reconciliation = new Reconciliation(batch);
  const facts = new RunFacts();
  const files = await writeRows(record, staging, (row) => {
    reconciliation.add(row);
    facts.add(row);
  });
  reconciliation.check();

  files.push(await staging.write('audit.csv', auditCsv(record.audit, batch.manifest.delimiter)));
  const page = reportPage(record, summarize(record, reconciliation, facts, files), facts);
  files.push(await staging.write('report.html', page));
  const summary = summarize(record, reconciliation, facts, files);
  await staging.write('summary.json', `${JSON.stringify(summary, null, 2)}\n`);
}

/** The single pass over the rows: each row goes into results.csv and into exactly one of the five files. */
async function writeRows(
  { batch: { manifest }, rows }: BatchRecord,
  staging: Staging,
  see: (row: RowView) => void,
): Promise<FileFacts[]> {
  const results = await staging.create('results.csv');
  await results.add(resultsHeader(manifest));
  const files = new Map<ReportFile, WholeFile>();
  for (const name of REPORT_FILES) {
    const file = await staging.create(`${name}.csv`);
    await file.add(fileHeader(name, manifest));
    files.set(name, file);
  }

  for await (const row of rows) {
    see(row);
    const full = results.add(resultsLine(row, manifest));
    if (full !== undefined) await full;
    const name = FILE_OF[row.state];
    const fileFull = files.get(name)?.add(fileLine(name, row, manifest));
    if (fileFull !== undefined) await fileFull;
  }

  const facts: FileFacts[] = [];
  for (const file of [results, ...files.values()]) facts.push(await file.finish());
  return facts;
}

const LINES_ON_PAGE_MAX = 200;

/**
 * Writes the public report: member, tokens, reason, time and sums of the paid orders. It contains no failures,
 * balances, input columns, realm, key source or operator. A transfer shows only its giver: the receiver is not among
 * the fields that may be published, and a public page must not reveal who paid whom. A rehearsal is marked as such,
 * because its sums are not real.
 */
async function writePublicReport(record: BatchRecord, staging: Staging): Promise<void> {
  const { manifest } = record.batch;
  const reconciliation = new Reconciliation(record.batch);
  const facts = new RunFacts();
  const shown: PublicLine[] = [];

  const list = await staging.create('public.csv');
  await list.add(csvLine(['member', 'tokens', 'reason', 'time'], manifest.delimiter));
  for await (const row of record.rows) {
    reconciliation.add(row);
    facts.add(row);
    const line = publicLine(row);
    if (line === undefined) continue;
    if (shown.length < LINES_ON_PAGE_MAX) shown.push(line);
    const full = list.add(csvLine([line.member, line.tokens, line.reason, line.time], manifest.delimiter));
    if (full !== undefined) await full;
  }
  await list.finish();
  reconciliation.check();

  const sums = (op: 'credit' | 'debit' | 'transfer'): PublicSums => ({
    orders: facts.paid[op].orders,
    tokens: String(facts.paid[op].tokens),
  });
  const totals = { given: sums('credit'), taken: sums('debit'), passedOn: sums('transfer') };
  const { batch, audit, series } = record;
  const { rehearsal } = manifest;
  const unfinishedAt = openCount(batch.counts) === 0 ? null : facts.asOf(batch, audit, series);
  await staging.write('public.html', publicPage({ rehearsal, unfinishedAt, totals, shown }));
  const document = {
    ...(rehearsal ? { rehearsal } : {}),
    ...(unfinishedAt === null ? {} : { unfinishedAt: isoTime(unfinishedAt) }),
    sums: totals,
  };
  await staging.write('public.json', `${JSON.stringify(document, null, 2)}\n`);
}

/** The public line of a row; undefined unless the row was paid. */
function publicLine(row: RowView): PublicLine | undefined {
  if (row.state !== 'paid' || row.member === null || row.tokens === null) return undefined;
  return {
    member: row.member,
    tokens: row.op === 'credit' ? row.tokens : -row.tokens,
    reason: row.reason,
    time: isoTime(row.settledAt),
  };
}
