import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WAITING_WHYS } from '../../src/core/waiting.js';

test('docs/operations.md says of every reason to wait what ends it', () => {
  const [, after = ''] = readFileSync('docs/operations.md', 'utf8').split('\n## Orders that wait\n');
  const [section = ''] = after.split('\n## ');
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) =>
    [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, why]) => why),
  );
  expect(named.toSorted()).toEqual([...WAITING_WHYS].toSorted());
});
