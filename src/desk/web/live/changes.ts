import type { Overview, OverviewChanges } from '../../api/index.js';

/** The overview with what changed since; batches keep their place in the order that is told. */
export function withChanges(overview: Overview, { batches, ...parts }: OverviewChanges): Overview {
  const known = new Map(
    [...overview.batches, ...batches.changed].map((batch) => [`${batch.realm}/${batch.batch}`, batch]),
  );
  return Object.assign({}, overview, parts, {
    batches: batches.order.flatMap((name) => known.get(name) ?? []),
  });
}
