import { describe, expect, it } from 'vitest';
import { memberId } from '../../src/core/ids.js';
import { tokens } from '../../src/core/points.js';
import type { OrderRow } from '../../src/csv/row.js';
import { BatchDigest, shortId } from '../../src/planning/paid-before/identity.js';
import { readBytes } from '../csv/read-file.js';

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
    // The same file must find the batch that it paid, whichever version made that.
    expect(digest(null)).toBe('d12c4f78f3167d230e43fb3b22fe84402f9c3fcd420de36d90c7538d58228230');
    expect(shortId(digest(null))).toBe('t4p4yy7k2syj');
    expect(new Set([digest(null), digest('gold'), digest('gems')]).size).toBe(3);
  });

  it('of a row tells neighbours apart that would be alike when simply joined', async () => {
    const rows = await orderRows('member,recipient,tokens,op\n12,3,4,\n1,23,4,\n123,,4,credit\n12,34,5,\n');
    const digests = rows.map((row) => {
      const digest = new BatchDigest({ baseUrl: 'https://realm.example', realmId: 'guild' }, null, null);
      digest.add(row);
      return digest.hex();
    });
    expect(new Set(digests).size).toBe(4);
  });
});
