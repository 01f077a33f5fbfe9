import type { BatchStatus } from '../../operations/batches/batch-status.js';
import { counted } from '../../report/spelling.js';

/** What becomes of the orders that are under way while a person steers the batch. */
export function underWayLines({ counts }: BatchStatus): string[] {
  const { sending = 0, unknown = 0 } = counts;
  return [
    sending > 0
      ? `${counted(sending, 'order is', 'orders are')} being sent and will finish; nothing new is sent.`
      : 'Nothing is being sent.',
    ...(unknown > 0
      ? [
          `${counted(unknown, 'order is', 'orders are')} unknown: whether it was applied is still to be found out.`,
        ]
      : []),
  ];
}
