import { expect, test } from 'vitest';
import { batchId, orderId } from '../../src/core/ids.js';
import type { OrderState } from '../../src/core/states.js';
import { laterOrders } from '../../src/operations/doubts/evidence.js';
import { isoTime } from '../../src/words/spelling.js';

test('what was sent in the same moment, later, or is still open, may explain a balance', () => {
  const sentAt = 1_700_000_000_000;
  const at = (ms: number, state: OrderState) => ({
    at: isoTime(sentAt + ms),
    state,
    order: orderId(batchId('a-batch'), ms + 10),
  });
  const [before, same, after, open] = [at(-1, 'paid'), at(0, 'doubt'), at(1, 'paid'), at(-9, 'planned')];
  expect(laterOrders([before, same, after, open], sentAt)).toEqual([same, after, open]);
  // An order that moves both members of a transfer is one.
  expect(laterOrders([same, after, after], sentAt)).toEqual([same, after]);
  const unmoved = (['refused', 'exhausted', 'cancelled', 'duplicate'] as const).map((state) => at(1, state));
  expect(laterOrders([...unmoved, after], sentAt)).toEqual([after]);
});
