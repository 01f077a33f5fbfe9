import type { RealmProfile } from '../../core/profile.js';
import {
  type BatchRef,
  type Manifest,
  type PlanReader,
  readBatch,
  snapshotBatch,
} from '../../ledger/index.js';
import { writeReport } from '../../report/write-report.js';
import type { Config } from '../../runtime/config/config.js';
import { configuredProfile } from './batch-realm.js';

/** Writes a batch's report from the ledger, at any time, also half-way. */
export async function reportBatch(
  ref: BatchRef,
  plans: PlanReader,
  config: Config,
  options: { out?: string | undefined; public?: boolean } = {},
): Promise<{ folder: string; files: string[] }> {
  const manifest = (await readBatch(ref))?.manifest;
  const profile = configuredProfile(config, ref.ledger.realm);
  const record = await snapshotBatch(ref, plans, caveats(manifest, profile, config));
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
