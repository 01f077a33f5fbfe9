import { describe, expect, test } from 'vitest';
import { meaningsOf } from '../../src/core/find-meanings.js';

const NOW = Date.parse('2026-11-16T00:30:00Z');
const meant = (text: string) =>
  Object.fromEntries(Object.entries(meaningsOf(text, null, NOW)).filter(([, meaning]) => meaning !== null));

describe('a text in the search field', () => {
  test('means all that its shape allows', () => {
    expect(meant('20261103')).toEqual({
      batch: '20261103',
      file: '20261103',
      reference: '20261103',
      member: '20261103',
      amount: { tokens: 20_261_103, op: null },
      day: { name: '2026-11-03', fromMs: Date.parse('2026-11-03'), toMs: Date.parse('2026-11-04') },
    });
    expect(meant('AB12-7')).toMatchObject({ order: { batch: 'ab12', index: 7 }, reference: 'AB12-7' });
    expect(Object.keys(meant('x'))).toEqual(['reference']);
  });

  test.each([
    ['1,000', { tokens: 1000, op: null }],
    ['1,234,567', { tokens: 1_234_567, op: null }],
    ['-50', { tokens: 50, op: 'debit' }],
    ['+50', { tokens: 50, op: 'credit' }],
    ['9007199254740991', { tokens: Number.MAX_SAFE_INTEGER, op: null }],
  ])('%s is an amount', (text, amount) => expect(meaningsOf(text, null, NOW).amount).toEqual(amount));

  test.each(['1.000', '1,00', '1,0000', '1e3', '0', '007', '5 0', '9007199254740993', '١٢'])(
    '%s is no amount',
    (text) => expect(meaningsOf(text, null, NOW).amount).toBeNull(),
  );

  test('days are days in UTC, also by name, and only those that there are', () => {
    const day = (text: string) => meaningsOf(text, null, NOW).day?.name;
    expect([day('2026-11-03'), day('today'), day('Yesterday')]).toEqual([
      '2026-11-03',
      '2026-11-16',
      '2026-11-15',
    ]);
    expect([day('2026-06-31'), day('2026-13-03'), day('20261303'), day('2026-1-3'), day('19991103')]).toEqual(
      Array(5).fill(undefined),
    );
  });

  test('can be held to one meaning', () => {
    const only = meaningsOf('20261103', 'day', NOW);
    expect(only).toMatchObject({ day: { name: '2026-11-03' }, member: null, amount: null, reference: null });
  });
});
