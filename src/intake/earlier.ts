import { z } from 'zod';
import { type BatchId, batchId } from '../core/ids.js';
import { listBatches, readBatch } from '../ledger/batches.js';
import type { Books } from '../ledger/books.js';
import { batchKeys } from '../ledger/keys.js';
import { decodeManifest } from '../ledger/manifest.js';
import { hasParked, lossAcceptedAt } from '../ledger/parked.js';
import type { Finding } from './row.js';
import { estimateOverlap, looksPaid } from './smallest.js';
import type { SurveyResult } from './survey.js';

/** What the books already know of a file: the same batch, or one that it repeats most of. */
export type Earlier = {
  readonly existing: { readonly no: string; readonly id: BatchId; readonly sealed: boolean } | null;
  readonly finding: { readonly severity: 'fault' | 'warning'; readonly finding: Finding } | null;
};

const LOOK_BACK_MS = 30 * 24 * 3600_000;
const SMALL_FILE_SHARE = 0.8;

export async function findEarlier(
  books: Books,
  file: {
    content: string | null;
    former: string | null;
    currency: string | null;
    survey: SurveyResult;
    bare: readonly string[];
    again: string | null;
    /** The identities under which it may have been paid. */
    batches: readonly BatchId[];
    /** Whether it can have been paid before that moment. */
    mayPrecede: (moment: number) => boolean;
    now: number;
  },
): Promise<Earlier> {
  const { caller, realm } = books;
  if (file.content === null) return { existing: null, finding: null };
  const { content, former, currency } = file;
  const no =
    (await caller.patiently('find batch', () => caller.redis.hget(`${realm}:content`, content))) ??
    (former === null ? null : await formerBatch(books, former, currency));
  if (no !== null) {
    const [id, state] = await caller.patiently('read batch', () =>
      caller.redis.hmget(batchKeys(realm, no).meta, 'id', 'state'),
    );
    const sealed = state !== 'importing';
    // One that was never sealed says nothing of what became of it in a past that the store has forgotten.
    const finding = sealed || file.again !== null ? null : await maybeForgotten(books, file);
    return { existing: { no, id: batchId(id ?? ''), sealed }, finding };
  }
  // --again says: the same payments once more, on purpose.
  if (file.again !== null) return { existing: null, finding: null };
  const forgotten = await maybeForgotten(books, file);
  if (forgotten !== null) return { existing: null, finding: forgotten };
  const bareRows = file.survey.withoutReference - file.survey.replacing;
  if (bareRows <= 0) return { existing: null, finding: null };
  return { existing: null, finding: await repeated(books, bareRows, file.bare, file.now) };
}

/**
 * Somebody has accepted that the store forgot more than the journals know: a batch that neither knows may have
 * been paid whole before. What the journals know a part of is put right when it is imported (see ledger/parked).
 */
async function maybeForgotten(
  books: Books,
  { batches, mayPrecede, now }: Pick<Parameters<typeof findEarlier>[1], 'batches' | 'mayPrecede' | 'now'>,
): Promise<Earlier['finding']> {
  const at = await lossAcceptedAt(books);
  if (at === null || now - at > LOOK_BACK_MS || !mayPrecede(at)) return null;
  for (const batch of batches) if (await hasParked(books, batch)) return null;
  const when = new Date(at).toISOString().slice(0, 16).replace('T', ' ');
  const message = `On ${when} UTC it was accepted that the store had forgotten payments which no journal knows. This file may be among them: nothing here can tell whether it was paid before.`;
  return { severity: 'fault', finding: { line: 0, column: null, code: 'ALM_PLAN_MAYBE_FORGOTTEN', message } };
}

/** The same orders as 0.1.0 knew them; in another currency they are other orders. As in lua/open-batch. */
async function formerBatch(books: Books, content: string, currency: string | null): Promise<string | null> {
  const { caller, realm } = books;
  const no = await caller.patiently('find batch', () => caller.redis.hget(`${realm}:content`, content));
  if (no === null) return null;
  const manifest = await caller.patiently('read batch', () =>
    caller.redis.hget(batchKeys(realm, no).meta, 'manifest'),
  );
  return manifest !== null && decodeManifest(manifest).currency === currency ? no : null;
}

async function repeated(
  books: Books,
  rows: number,
  bare: readonly string[],
  now: number,
): Promise<Earlier['finding']> {
  for (const ref of (await listBatches(books)).reverse()) {
    const batch = await readBatch(ref);
    if (batch === undefined || now - batch.manifest.createdAt > LOOK_BACK_MS) continue;
    const { paid = 0, doubt = 0, planned = 0, sending = 0, unknown = 0 } = batch.counts;
    if (paid + doubt + planned + sending + unknown === 0) continue;
    const { caller, realm } = books;
    const stored = await caller.patiently('read digests', () =>
      caller.redis.hget(batchKeys(realm, ref.no).meta, 'digests'),
    );
    const digests = z.array(z.string()).parse(JSON.parse(stored ?? '[]'));
    const refused = looksPaid(rows, bare, digests);
    const { share, sample } = estimateOverlap(bare, digests);
    if (!refused && !(sample > 0 && share >= SMALL_FILE_SHARE)) continue;
    const made = new Date(batch.manifest.createdAt).toISOString().slice(0, 16).replace('T', ' ');
    const message = `The file has no references and about ${Math.round(share * 100)} % of it stands in batch ${ref.id} of ${made} UTC (${batch.manifest.source}, ${batch.state}). Paying it again needs --again LABEL.`;
    return {
      severity: refused ? 'fault' : 'warning',
      finding: { line: 0, column: null, code: 'ALM_PLAN_LOOKS_PAID', message },
    };
  }
  return null;
}
