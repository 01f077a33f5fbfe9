import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memberId } from '../../src/core/ids.js';
import { tokens } from '../../src/core/points.js';
import { BatchDigest, contentDigest, rowDigest } from '../../src/intake/digest.js';
import { shortId } from '../../src/intake/plan.js';
import type { OrderRow } from '../../src/intake/row.js';
import { estimateOverlap, looksPaid, Smallest256 } from '../../src/intake/smallest.js';
import { readBytes } from './read-file.js';

async function sha(file: string, again?: string): Promise<string | null | undefined> {
  return (await readBytes(file, again === undefined ? {} : { again })).through?.sha256;
}

async function orderRows(file: string): Promise<OrderRow[]> {
  return (await readBytes(file)).rows.flatMap((row) => (row.kind === 'order' ? [row] : []));
}

describe('the identity of a batch', () => {
  const file = 'member,tokens,reference,reason\n1,5,a,x\n2,-6,,y\n';

  it('does not depend on delimiter, line ends, mark, column order, spelling or further columns', async () => {
    const expected = await sha(file);
    expect(expected).toMatch(/^[0-9a-f]{64}$/);
    expect(await sha('\ufeffmember;tokens;reference\r\n1;5;a\r\n2;-6;\r\n')).toBe(expected);
    expect(await sha('sep=\t\nname\tReference\tPOINTS\tuserId\nAnn\t a \t005\t" 1"\n\nBob\t\t-6\t2')).toBe(
      expected,
    );
    expect(await sha('op,member,tokens,reference\ncredit,1,5,a\ndebit,2,6,\n')).toBe(expected);
  });

  it('depends on every order, its order in the file, its reference, what it replaces, and --again', async () => {
    const others = [
      'member,tokens,reference\n2,-6,\n1,5,a\n',
      'member,tokens,reference\n1,5,b\n2,-6,\n',
      'member,tokens,reference\n1,5,a\n2,6,\n',
      'member,tokens,reference\n1,5,a\n02,-6,\n',
      'member,tokens,reference,almoner_order\n1,5,a,\n2,-6,,b7k2m9-3\n',
      'member,tokens,reference\n1,5,a\n2,-6,\n2,-6,\n',
    ];
    const digests = [await sha(file), await sha(file, 'once more'), await sha(file, 'twice more')];
    for (const other of others) digests.push(await sha(other));
    expect(new Set(digests).size).toBe(others.length + 3);
  });

  it('is what it always was without a currency of its own, and another one with each', () => {
    const digest = (currency: string | null) => {
      const whole = new BatchDigest({ baseUrl: 'https://realm.example', realmId: 'guild' }, null, currency);
      const member = memberId('119000000000000001');
      const order = { op: 'credit', member, recipient: null, tokens: tokens(5) } as const;
      whole.add({ order, reference: 'a', replaces: null });
      whole.add({
        order: { ...order, op: 'debit', member: memberId('2'), tokens: tokens(6) },
        reference: null,
        replaces: null,
      });
      return whole.hex();
    };
    // As 0.1.0 made it: the same file must find the batch that it paid.
    expect(digest(null)).toBe('d12c4f78f3167d230e43fb3b22fe84402f9c3fcd420de36d90c7538d58228230');
    expect(shortId(digest(null))).toBe('t4p4yy7k2syj');
    expect(new Set([digest(null), digest('gold'), digest('gems')]).size).toBe(3);
  });

  it('of a row tells neighbours apart that would be alike when simply joined', async () => {
    const rows = await orderRows('member,recipient,tokens,op\n12,3,4,\n1,23,4,\n123,,4,credit\n12,34,5,\n');
    expect(new Set(rows.map(rowDigest)).size).toBe(4);
  });

  it('of a payment leaves the reference out', async () => {
    const [a, b, c] = await orderRows('member,tokens,reference\n1,5,a\n1,5,b\n1,6,c\n');
    if (a === undefined || b === undefined || c === undefined) throw new Error('three rows expected');
    expect(contentDigest(a)).toBe(contentDigest(b));
    expect(contentDigest(a)).not.toBe(contentDigest(c));
    expect(rowDigest(a)).not.toBe(rowDigest(b));
  });
});

/** Digests as a hash would give them, from a small generator, so that a failure can be repeated. */
function digests(seed: number, count: number): string[] {
  let state = BigInt(seed) * 0x9e3779b97f4a7c15n;
  return Array.from({ length: count }, () => {
    state = (state + 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn;
    let mixed = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & 0xffffffffffffffffn;
    mixed = ((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn) & 0xffffffffffffffffn;
    return (mixed ^ (mixed >> 31n)).toString(16).padStart(16, '0');
  });
}

function sample(of: readonly string[]): readonly string[] {
  const smallest = new Smallest256();
  for (const digest of of) smallest.add(digest);
  return smallest.list();
}

describe('the looks-paid sample', () => {
  it('is the 256 smallest, in any order of arrival, each once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 0, max: 600 }), (seed, count) => {
        const all = digests(seed, count);
        const expected = [...new Set(all)].sort().slice(0, 256);
        expect(sample(all)).toEqual(expected);
        expect(sample([...all].reverse().concat(all))).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  it('estimates the share of a file that another holds', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e6 }),
        fc.integer({ min: 100, max: 4000 }),
        fc.integer({ min: 0, max: 4000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (seed, size, others, share) => {
          const all = digests(seed, size + others);
          const shared = Math.round(size * share);
          const a = all.slice(0, size);
          const b = [...all.slice(0, shared), ...all.slice(size)];
          const estimate = estimateOverlap(sample(a), sample(b));
          // Five standard errors of a share: far enough out that no honest run comes near.
          const error = (5 * 0.5) / Math.sqrt(Math.max(1, estimate.sample));
          expect(Math.abs(estimate.share - shared / size)).toBeLessThanOrEqual(Math.min(1, error));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is exact for files of up to 256 rows', () => {
    const all = digests(7, 250);
    expect(estimateOverlap(sample(all.slice(0, 100)), sample(all.slice(50, 250)))).toEqual({
      share: 0.5,
      sample: 100,
    });
    expect(estimateOverlap([], sample(all))).toEqual({ share: 0, sample: 0 });
  });

  it('calls a repeated file paid, a mostly new one not, and says nothing of fewer than 20 rows', () => {
    const all = digests(11, 10_000);
    expect(looksPaid(5000, sample(all.slice(0, 5000)), sample(all.slice(0, 5000)))).toBe(true);
    expect(looksPaid(5000, sample(all.slice(0, 5000)), sample(all.slice(200, 5200)))).toBe(true);
    expect(looksPaid(5000, sample(all.slice(0, 5000)), sample(all.slice(2500, 7500)))).toBe(false);
    expect(looksPaid(5000, sample(all.slice(0, 5000)), sample(all.slice(5000)))).toBe(false);
    expect(looksPaid(19, sample(all.slice(0, 19)), sample(all.slice(0, 19)))).toBe(false);
    expect(looksPaid(20, sample(all.slice(0, 20)), sample(all.slice(0, 20)))).toBe(true);
  });
});
