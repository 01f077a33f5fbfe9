import { expect, test } from 'vitest';
import { retyped } from '../../src/cli/frame/plan-options.js';

const NOTHING = {
  ...{
    map: [],
    forgetMap: false,
    headerLine: undefined,
    members: undefined,
    again: undefined,
    currency: undefined,
    newAddress: false,
    newLedger: false,
    newRowsOnly: false,
    skipInvalid: false,
  },
  ...{ expectRows: undefined, expectTokens: undefined },
};

test('what a person is told to type next says of the file what they said of it, as a shell reads it', () => {
  expect(retyped('jobs/a.csv', NOTHING)).toBe('jobs/a.csv');
  expect(retyped('a.csv', { ...NOTHING, newAddress: true, newRowsOnly: true, skipInvalid: true })).toBe(
    'a.csv --new-address --new-rows-only --skip-invalid',
  );
  expect(
    retyped("Ada's file.csv", {
      ...NOTHING,
      map: ['tokens=Punkte', 'member=$id'],
      again: 'week 46',
      currency: 'gold',
    }),
  ).toBe("'Ada'\\''s file.csv' --map tokens=Punkte --map 'member=$id' --currency gold --again 'week 46'");
});
