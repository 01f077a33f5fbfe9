import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BatchSummary, Overview } from '../../src/desk/api/index.js';
import { changesBetween } from '../../src/desk/live/changes.js';
import { withChanges } from '../../src/desk/web/live/changes.js';

/** A batch and an overview that differ by as much as the changes look at. */
const summary = fc
  .record({
    batch: fc.constantFrom('a', 'b', 'c', 'd'),
    realm: fc.constantFrom('one', 'two'),
    rows: fc.nat(3),
  })
  .map((facts): BatchSummary => ({ ...({} as BatchSummary), ...facts }));
const overview = fc
  .record({
    at: fc.constantFrom('2026-11-03T10:00:00.000Z', '2026-11-03T10:00:01.000Z'),
    noWorker: fc.boolean(),
    workers: fc.record({ alive: fc.nat(2), processes: fc.constant([]) }),
    matters: fc.array(fc.constant({ event: 'batch.doubt' }), { maxLength: 2 }),
    batches: fc.uniqueArray(summary, { selector: ({ realm, batch }) => `${realm}/${batch}`, maxLength: 6 }),
  })
  .map((facts) => facts as unknown as Overview);

test('the changes between two overviews make the second of the first', () => {
  fc.assert(
    fc.property(overview, overview, (before, now) => {
      const changes = JSON.parse(JSON.stringify(changesBetween(before, now)));
      expect(withChanges(before, changes)).toEqual(now);
    }),
  );
});

test('a batch that did not change is named, and not told again', () => {
  fc.assert(
    fc.property(overview, (same) => {
      const { batches, ...parts } = changesBetween(same, same);
      expect([batches.changed, Object.keys(parts)]).toEqual([[], ['at']]);
      expect(batches.order).toHaveLength(same.batches.length);
    }),
  );
});
