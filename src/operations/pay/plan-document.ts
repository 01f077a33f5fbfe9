import type { RealmProfile } from '../../core/profile.js';
import { lineRanges } from '../../planning/line-ranges.js';
import type { Planned } from './plan-file.js';

/** A plan as the JSON document of the contract: `plan --json`, and the desk's preview. */
export function planDocument({ plan, preview }: Planned, profile: RealmProfile, faultsFile: string | null) {
  const { totals, findings } = plan;
  return {
    batch: plan.existing?.id ?? plan.batch,
    realm: profile.name,
    rehearsal: profile.rehearsal,
    baseUrl: profile.baseUrl,
    currency: profile.currency,
    certainty: profile.certainty,
    existing: plan.existing?.view != null,
    existingState: plan.existing?.view?.state ?? null,
    source: plan.source,
    rows: totals.rows,
    orders: totals.orders,
    tokens: totals.tokens,
    members: totals.members,
    duplicates: preview.duplicates,
    duplicatesOf: plan.spent.batches,
    looksPaid: plan.repeats.batches.map(({ batch, rows }) => ({
      batch,
      rows: rows.length,
      lines: lineRanges(rows.map(([, line]) => line)),
    })),
    invalid: totals.invalid,
    faults: findings.faults(1000),
    faultCount: findings.faultCount,
    faultsFile,
    warnings: findings.warnings(1000),
    requests: preview.requests,
    seconds: preview.seconds,
    payable: { orders: preview.payable, tokens: preview.payableTokens },
    books: preview.past,
    dayLeft: preview.dayLeft,
    netEffects: totals.busiest,
  };
}
