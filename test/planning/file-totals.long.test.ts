import { expect, test } from 'vitest';
import { memberId } from '../../src/core/ids.js';
import { tokens } from '../../src/core/points.js';
import { FileTotals } from '../../src/planning/file-totals.js';

test('the totals of a file hold a million members in 60 MB', () => {
  const before = process.memoryUsage().arrayBuffers;
  const totals = new FileTotals();
  for (let index = 0; index < 1_000_000; index++) {
    const member = memberId(`1192837${10_000_000_000 + index * 7919}`);
    const order = { op: 'credit', member, recipient: null, tokens: tokens(1 + (index % 9)) } as const;
    totals.add({
      kind: 'order',
      line: index + 2,
      order,
      reference: null,
      reason: null,
      replaces: null,
      cells: [],
    });
  }
  const bytes = process.memoryUsage().arrayBuffers - before;
  expect(totals.finish({ maxTokensPerBatch: null }).members).toBe(1_000_000);
  expect(bytes).toBeLessThan(60e6);
});
