import { expect, test } from 'vitest';
import { type DiffLine, lineDiff } from '../../src/words/line-diff.js';

const spelled = (lines: readonly DiffLine[]) => lines.map(({ mark, text }) => mark + text);
const side = (lines: readonly DiffLine[], mark: '-' | '+') =>
  lines.filter((line) => line.mark === ' ' || line.mark === mark).map(({ text }) => text);

test('tells which lines were taken, which came, and which both texts have', () => {
  expect(spelled(lineDiff('a\nb\nc\nd\n', 'a\nx\nc\nd\ne\n'))).toEqual([' a', '-b', '+x', ' c', ' d', '+e']);
  expect(spelled(lineDiff('same\n', 'same\n'))).toEqual([' same']);
});

test('both texts can be read from it, also where it is too large to be compared line by line', () => {
  for (const length of [40, 1_500]) {
    const [old, now] = [0, 1].map((odd) =>
      Array.from({ length }, (_, at) => `${at % 3 === 0 ? odd : at} ${at}`),
    );
    const lines = lineDiff((old ?? []).join('\n'), (now ?? []).join('\n'));
    expect(side(lines, '-')).toEqual(old);
    expect(side(lines, '+')).toEqual(now);
  }
});
