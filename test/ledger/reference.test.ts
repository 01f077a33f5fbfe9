import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memberId } from '../../src/core/ids.js';
import type { Order } from '../../src/core/order.js';
import { tokens } from '../../src/core/points.js';
import { contentDigest } from '../../src/core/reference.js';
import { parseHolder, referenceKey } from '../../src/ledger/reference.js';

const CREDIT: Order = { op: 'credit', member: memberId('1'), recipient: null, tokens: tokens(5) };

describe('a reference', () => {
  test('is stored as a shard of 16 bits and an entry of 80, always the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (reference) => {
        const key = referenceKey(reference);
        expect(key.shard).toMatch(/^[0-9a-f]{4}$/);
        expect(key.fieldHex).toMatch(/^[0-9a-f]{20}$/);
        expect(referenceKey(reference)).toEqual(key);
      }),
    );
    expect(referenceKey('spring-1')).toEqual({
      shard: '8555',
      fieldHex: 'c0d21d89b57e19d72e9a',
    });
  });

  test('with other content has another digest: op, member, recipient and tokens all count', () => {
    const others: Order[] = [
      { ...CREDIT, op: 'debit' },
      { ...CREDIT, member: memberId('2') },
      { ...CREDIT, tokens: tokens(6) },
      { op: 'transfer', member: CREDIT.member, recipient: memberId('2'), tokens: CREDIT.tokens },
    ];
    const digests = [CREDIT, ...others].map(contentDigest);
    expect(new Set(digests).size).toBe(5);
    expect(contentDigest({ ...CREDIT })).toBe(contentDigest(CREDIT));
    for (const digest of digests) expect(digest).toMatch(/^[\w-]{6}$/);
  });

  test('names its holder', () => {
    const holder = { digest: 'aB-_12', no: '17', index: 250_000 };
    expect(parseHolder('aB-_12:17:250000')).toEqual({ ...holder, arrivesUntil: null });
    expect(parseHolder('aB-_12:17:250000:5')).toEqual({ ...holder, arrivesUntil: 5 });
  });
});
