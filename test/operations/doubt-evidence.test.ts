import { expect, test } from 'vitest';
import { laterOrders } from '../../src/operations/doubts/evidence.js';
import { isoTime } from '../../src/words/spelling.js';

test('what was sent in the same moment, later, or is still open, may explain a balance', () => {
  const sentAt = 1_700_000_000_000;
  const at = (ms: number, state: 'paid' | 'doubt' | 'planned') => ({ at: isoTime(sentAt + ms), state });
  const [before, same, after, open] = [at(-1, 'paid'), at(0, 'doubt'), at(1, 'paid'), at(-9, 'planned')];
  expect(laterOrders([before, same, after, open], sentAt)).toEqual([same, after, open]);
});
