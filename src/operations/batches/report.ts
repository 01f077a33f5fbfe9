import { messageOf } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';
import {
  type BatchRef,
  batchRef,
  type Manifest,
  notes,
  readBatch,
  reading,
  recovery,
} from '../../ledger/index.js';
import { writeReport } from '../../report/write-report.js';
import type { App, RealmContext } from '../../runtime/app.js';
import type { Config } from '../../runtime/config/config.js';
import { configuredProfile } from './batch-realm.js';

/** Writes a batch's report from the ledger, at any time, also half-way. */
export async function reportBatch(
  ref: BatchRef,
  config: Config,
  options: { out?: string | undefined; public?: boolean } = {},
): Promise<{ folder: string; files: string[] }> {
  const manifest = (await readBatch(ref))?.manifest;
  const profile = configuredProfile(config, ref.ledger.realm);
  const record = await reading.snapshots.batch(
    ref,
    new reading.PlanReader(ref.ledger),
    caveats(manifest, profile, config),
  );
  return writeReport(
    { ...record, batch: { ...record.batch, rate: profile?.rate ?? null } },
    { folder: options.out ?? config.reportsFolder, public: options.public ?? false, now: Date.now() },
  );
}

/** Everything a reader of the numbers must know beside them. */
function caveats(
  manifest: Manifest | undefined,
  profile: RealmProfile | undefined,
  config: Config,
): string[] {
  const overrides = Object.entries(profile?.statusOverrides ?? {}).map(
    ([status, kind]) =>
      `Status ${status} counts as “${kind}” on this realm (statusOverrides in the profile).`,
  );
  const risks = config.risks.map((risk) => `Accepted risk of the store: ${risk}.`);
  const certainty =
    manifest?.certainty === 'readback'
      ? ['Certainty is readback: the operator asserts that nothing else moves these members meanwhile.']
      : [];
  return [...overrides, ...risks, ...certainty];
}

/** Who fails is followed by whoever looks after this time. */
const TURN_SECONDS = 30;

/**
 * The reports of batches that have ended in the workers' hands. The ledger notes the end with the last order, and forgets it
 * once the report stands: a process that dies between the two leaves it to the next. Nobody waits for a folder
 * that cannot be written; it is said, and tried again. While the ledger is closed journals may bring back more of a batch.
 */
export async function reportEnded(app: App, { ledger }: RealmContext, say: (message: string) => void) {
  const { armed, untouched } = await recovery.fence.read(ledger);
  if (!armed && !untouched) return;
  for (const ended of await notes.ended.list(ledger)) {
    if (!(await notes.turns.takeReport(ledger, ended, TURN_SECONDS))) continue;
    const ref = await batchRef(ledger, ended.no);
    try {
      if ((await readBatch(ref)) !== undefined) {
        const { folder } = await reportBatch(ref, app.config);
        app.logger.info({ batch: ref.id, folder }, 'the report was written');
      }
      await notes.ended.forget(ledger, ended);
    } catch (error) {
      say(`The report of batch ${ref.id}, which has ended, could not be written: ${messageOf(error)}`);
    }
  }
}
