import { describe, expect, test } from 'vitest';
import { faultsOf, ruleText } from './rule-file.js';

describe('everything that can be seen at once is told at once', () => {
  test('a type that does not fit hides neither columns nor names that are not there', async () => {
    const faults = await faultsOf(
      ruleText({ condition: 'condition: row.nothing > 1 && run.never == 1 && 1 > "a"' }),
    );
    expect(faults.map(({ message }) => message)).toEqual([
      expect.stringContaining('int > string'),
      expect.stringContaining('row.nothing: the audience does not have this column'),
      expect.stringContaining('run.never: there is no such field'),
    ]);
  });

  test('nor does a share hide what is wrong with the tokens beside it', async () => {
    const faults = await faultsOf(
      ruleText({ award: 'award:\n  tokens: "1.5.2"\n  share: { pot: 10, weight: row.score }' }),
    );
    expect(faults.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        expect.stringContaining('either `tokens` or `share`'),
        expect.stringContaining('award.tokens: '),
      ]),
    );
  });
});
