import type { OrderState } from '../../../src/core/states.js';
import type { BatchRecord } from '../../../src/ledger/views.js';
import { recordOf, rowOf, START } from '../ledger/batch-record.js';

/** A batch with every kind of event that a report can show. */
export function vividBatch(rehearsal = true): BatchRecord {
  const stateAt = (index: number): OrderState => {
    if (index % 601 === 0) return 'doubt';
    if (index % 97 === 0) return 'refused';
    if (index % 211 === 0) return 'exhausted';
    if (index % 331 === 0) return 'invalid';
    if (index % 47 === 0) return 'duplicate';
    return index > 2_820 ? 'planned' : 'paid';
  };
  const rows = Array.from({ length: 3_000 }, (_, at) => rowOf(stateAt(at + 1), at + 1));
  const slices = Array.from({ length: 37 }, (_, at) => ({
    at: START + at * 10_000,
    requests: at === 20 || at === 21 ? 0 : 78 + ((at * 13) % 6) - (at === 36 ? 50 : 0),
    paid: at === 20 || at === 21 ? 0 : 72 + ((at * 7) % 9) - (at === 36 ? 48 : 0),
    failed: at % 6 === 0 ? 3 : at % 4 === 0 ? 1 : 0,
    doubts: at === 9 ? 4 : 0,
    rateLimited: at === 12 ? 4 : 0,
  }));
  return recordOf(rows, {
    manifest: { rehearsal, source: 'spring <awards> & "more".csv' },
    batch: {
      state: 'halted',
      reason: {
        code: 'ALM_REALM_KEY_REFUSED',
        message:
          'The realm answered 401: the API key is wrong or does not exist. 180 orders wait and were not sent.',
        next: 'Put the right key in place, then `almoner resume spring-airdrop`.',
      },
      requests: 2_870,
      retries: 41,
      rateLimited: 4,
      finishedAt: null,
    },
    record: {
      latency: [20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1_000, 2_000, 5_000].map((upToMs, at) => ({
        upToMs,
        count: [0, 12, 240, 800, 900, 500, 250, 90, 40, 20, 10, 6, 2][at] ?? 0,
      })),
      series: { sliceMs: 10_000, slices },
      caveats: ['Status 409 counts as refused in this realm (status override).'],
    },
  });
}
