import type { Overview, OverviewChanges } from '../../api/index.js';

/** Merges a live event into the overview. Batches follow the order that the event gives. */
export function withChanges(overview: Overview, { batches, ...parts }: OverviewChanges): Overview {
  const known = new Map(
    [...overview.batches, ...batches.changed].map((batch) => [`${batch.realm}/${batch.batch}`, batch]),
  );
  return Object.assign({}, overview, parts, {
    batches: batches.order.flatMap((name) => known.get(name) ?? []),
  });
}
