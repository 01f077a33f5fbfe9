import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WAITING_WHYS } from '../../src/core/may-send.js';

test('the page about standstills says what ends each reason to wait', () => {
  const [, after = ''] = readFileSync('docs/how-to/when-something-stands-still.md', 'utf8').split(
    '\n## Orders that wait\n',
  );
  const [section = ''] = after.split('\n## ');
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) =>
    [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, why]) => why),
  );
  expect(named.toSorted()).toEqual([...WAITING_WHYS].toSorted());
});
