import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { batchId, isRecordedMemberId, orderId } from '../../src/core/ids.js';
import type { Order } from '../../src/core/order.js';
import { TOKENS_MAX, tokens } from '../../src/core/points.js';
import { decodePlanBlock, encodePlanBlock, type PlanRow, PlanText } from '../../src/ledger/plan-block.js';
import { planRow } from '../support/ledger/ledgers-on-redis.js';

/** Ledgers hold ids with leading zeros, from before planning refused them. */
const member = fc.stringMatching(/^[0-9]{1,20}$/).filter(isRecordedMemberId);
const amount = fc.integer({ min: 1, max: TOKENS_MAX }).map(tokens);
const order: fc.Arbitrary<Order> = fc.oneof(
  fc.record({
    op: fc.constantFrom('credit' as const, 'debit' as const),
    member,
    recipient: fc.constant(null),
    tokens: amount,
  }),
  fc.record({ op: fc.constant('transfer' as const), member, recipient: member, tokens: amount }),
);
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const some = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
const row: fc.Arbitrary<PlanRow> = fc
  .record({
    line: fc.integer({ min: 1, max: 5_000_000 }),
    order: fc.option(order),
    reference: fc.option(some),
    reason: fc.option(text),
    replaces: fc.option(fc.integer({ min: 1, max: 999_999 }).map((index) => orderId(batchId('old'), index))),
    cells: fc.array(text, { maxLength: 6 }),
    fault: fc.option(fc.record({ code: fc.constant('ALM_ROW_TOKENS_INVALID' as const), message: text })),
    duplicateOf: fc.option(some),
    undoes: fc.option(
      fc.record({
        shard: fc.constant('00ff'),
        fieldHex: fc.constant('00'),
        no: fc.constant('3'),
        index: fc.constant('9'),
        account: fc.constant('thanks:2026-W09'),
      }),
    ),
  })
  // In real files the parsed values also appear in the cells, more or less.
  .chain((made) =>
    fc
      .boolean()
      .map((repeated) =>
        repeated ? { ...made, cells: [made.order?.member ?? '', made.reference ?? '', ...made.cells] } : made,
      ),
  );

describe('a block of a plan', () => {
  test('reads back as it was written, whatever the cells contain', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
        expect(decodePlanBlock(encodePlanBlock(rows))).toEqual(rows);
      }),
    );
  });

  test('tells a scan where a member, reference or amount cannot be, and never hides one that is there', () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 10 }), (rows) => {
        const bytes = encodePlanBlock(rows);
        for (const { order: one } of rows)
          if (one !== null) {
            expect(new PlanText(bytes).mayMention(one.member)).toBe(true);
            if (one.recipient !== null) expect(new PlanText(bytes).mayMention(one.recipient)).toBe(true);
            expect(new PlanText(bytes).mayAmountTo(one.tokens)).toBe(true);
          }
        for (const { reference } of rows)
          if (reference !== null) expect(new PlanText(bytes).mayMention(reference)).toBe(true);
      }),
    );
    expect(new PlanText(encodePlanBlock([planRow({ member: '41' }, 1)])).mayMention('42')).toBe(false);
  });

  test('has the same bytes for the same rows, so putting it again stores nothing else', () => {
    const rows = Array.from({ length: 256 }, (_, i) => planRow({ reference: `r-${i}` }, i + 1));
    expect(encodePlanBlock(rows).equals(encodePlanBlock(rows))).toBe(true);
  });

  test('takes few bytes a row', () => {
    const rows = Array.from({ length: 256 }, (_, i) =>
      planRow({ member: String(119_000_000_000_000_000n + BigInt(i * 977)) }, i + 1),
    );
    expect(encodePlanBlock(rows).length / rows.length).toBeLessThan(20);
  });

  test('a block without orders is a bug, not a payment', () => {
    expect(() => decodePlanBlock(Buffer.from('not compressed'))).toThrow();
  });
});
