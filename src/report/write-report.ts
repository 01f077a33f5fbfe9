import type { BatchRecord } from '../ledger/views.js';
import { writeFullReport } from './full-report.js';
import { writePublicReport } from './public-report.js';
import { Staging } from './staging.js';

export type ReportOptions = {
  /** The reports folder; the batch gets a folder of its own in it. */
  readonly folder: string;
  /** Only member, tokens, reason, time and sums, in a folder `public` inside the batch's own. */
  readonly public?: boolean;
  /** Judges the age of what a killed process left behind; no report holds it. */
  readonly now: number;
};

/**
 * Writes the report of a batch, from Redis or from an archive, at any time. It is a pure function of the
 * record: the same ledger gives the same bytes. Rows stream through once and are never held. Nothing can be
 * seen before everything is written and ties; after any failure what stood before still stands.
 */
export async function writeReport(
  record: BatchRecord,
  options: ReportOptions,
): Promise<{ folder: string; files: string[] }> {
  const { batch } = record.batch.manifest;
  const isPublic = options.public ?? false;
  const place = { root: options.folder, batch, now: options.now };
  const staging = await Staging.begin(isPublic ? { ...place, inside: 'public' } : place);
  try {
    await (isPublic ? writePublicReport(record, staging) : writeFullReport(record, staging));
    return { folder: staging.target, files: await staging.publish() };
  } catch (error) {
    await staging.discard();
    throw error;
  }
}
