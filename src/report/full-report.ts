import type { BatchRecord } from '../ledger/views.js';
import { auditCsv } from './audit.js';
import { fileHeader, fileLine, fileOf, REPORT_FILES, type ReportFile } from './files.js';
import { reportPage } from './html/report-page.js';
import { Reconciliation } from './reconciliation.js';
import { resultsHeader, resultsLine } from './results.js';
import { RunFacts } from './run-facts.js';
import type { Staging } from './staging.js';
import { summarize } from './summarize.js';
import type { FileFacts, WholeFile } from './whole-file.js';

/**
 * All files of a batch's report, in the order in which they will replace older ones: the rows first, the
 * summary last.
 */
export async function writeFullReport(record: BatchRecord, staging: Staging): Promise<void> {
  const { batch } = record;
  const tie = new Reconciliation();
  const facts = new RunFacts();
  const files = await writeRows(record, staging, (row) => {
    tie.add(row);
    facts.add(row);
  });
  tie.check(batch);

  files.push(await staging.write('audit.csv', auditCsv(record.audit, batch.manifest.delimiter)));
  const page = reportPage(record, summarize(record, tie, facts, files), facts);
  files.push(await staging.write('report.html', page));
  const summary = summarize(record, tie, facts, files);
  await staging.write('summary.json', `${JSON.stringify(summary, null, 2)}\n`);
}

/** The one pass over the rows: each goes into results.csv and into exactly one of the five parts. */
async function writeRows(
  { batch: { manifest }, rows }: BatchRecord,
  staging: Staging,
  see: (row: Parameters<typeof resultsLine>[0]) => void,
): Promise<FileFacts[]> {
  const results = await staging.create('results.csv');
  await results.add(resultsHeader(manifest));
  const parts = new Map<ReportFile, WholeFile>();
  for (const part of REPORT_FILES) {
    const file = await staging.create(`${part}.csv`);
    await file.add(fileHeader(part, manifest));
    parts.set(part, file);
  }

  for await (const row of rows) {
    see(row);
    const full = results.add(resultsLine(row, manifest));
    if (full !== undefined) await full;
    const part = fileOf(row.state);
    const partFull = parts.get(part)?.add(fileLine(part, row, manifest));
    if (partFull !== undefined) await partFull;
  }

  const facts: FileFacts[] = [];
  for (const file of [results, ...parts.values()]) facts.push(await file.finish());
  return facts;
}
