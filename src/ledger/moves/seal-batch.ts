import { z } from 'zod';
import { type OverLimit, parseOverLimit } from '../accounts.js';
import { encodeManifest } from '../manifest.js';
import type { RealmLedger } from '../realm-ledger.js';
import { texts } from '../script-client.js';
import type { AuditEntry, Manifest } from '../views.js';

/** What a run of a rule keeps in the same step as its batch is sealed. */
export type SealedRun = {
  readonly account: string;
  /** The most that all orders of the account may hold; null for no limit. */
  readonly limit: number | null;
  /** Null for a run of a schedule, whose number is its time. */
  readonly number: number | null;
  readonly id: string;
  /** The run as it is from then on, and what became of the schedule's time, as JSON. */
  readonly record: string;
  /** `only`: nothing is sealed where somebody else has dealt with that time. */
  readonly schedule: { readonly rule: string; readonly last: string; readonly only: boolean } | null;
};

export type Sealed = z.infer<typeof sealReply> | OverLimit;

export type SealedWith = {
  readonly sketch: Buffer;
  /** The realm's numbers when the plan was judged again; null where nothing was asked. */
  readonly judged: { readonly seals: string; readonly retries: string } | null;
  readonly run: SealedRun | null;
  /** The store had forgotten it, and it was compared with nothing. */
  readonly putBack: boolean;
};

export async function sealBatch(
  ledger: RealmLedger,
  at: { no: string; importer: string; owner: string },
  manifest: Manifest,
  counters: Readonly<Record<string, string>>,
  audit: AuditEntry,
  { sketch = NO_SKETCH, judged = null, run = null, putBack = false }: Partial<SealedWith> = {},
): Promise<Sealed> {
  const [status, ...over] = texts(
    await ledger.scripts.script('seal-batch', ledger.keyPrefix, [
      at.no,
      at.importer,
      encodeManifest(manifest),
      JSON.stringify(counters),
      at.owner,
      manifest.rows,
      JSON.stringify(audit),
      sketch,
      manifest.inOrder ? '1' : '0',
      judged === null ? '' : `${judged.seals} ${judged.retries}`,
      run === null ? '' : JSON.stringify(run),
      putBack ? '1' : '',
    ]),
  );
  if (status === 'over') return parseOverLimit(over);
  return sealReply.parse(status);
}

const sealReply = z.enum(['sealed', 'already', 'not-importer', 'incomplete', 'moved', 'disarmed', 'noted']);
const NO_SKETCH = Buffer.alloc(0);
