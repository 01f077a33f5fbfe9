import { describe, expect, it } from 'vitest';
import { memberId } from '../../src/core/ids.js';
import { Amounts } from '../../src/planning/file-findings.js';
import { Members } from '../../src/planning/members.js';
import { readBytes } from '../csv/read-file.js';

const codes = (findings: readonly { code: string }[]) => findings.map((finding) => finding.code);

describe('a survey', () => {
  it('adds up rows, sums, members and what happens to each', async () => {
    const { through, warnings } = await readBytes(
      'op,member,recipient,tokens,reference\ncredit,11,,5,a\ndebit,11,,-2,b\ntransfer,11,22,7,c\ncredit,33,,1,\ncredit,11,,5,a\n',
    );
    expect(through?.totals).toMatchObject({
      rows: 5,
      invalid: 0,
      orders: { credit: 3, debit: 1, transfer: 1 },
      tokens: { credit: 11n, debit: 2n, transfer: 7n },
      duplicates: 1,
      duplicateTokens: { credit: 5n, debit: 0n, transfer: 0n },
      payable: { credit: 6n, debit: 2n, transfer: 7n },
      members: 3,
      busiestRows: 3,
      busiest: [{ member: '11', rows: 3, firstLine: 2, net: -4n, gains: true, loses: true }],
    });
    expect(codes(warnings)).toEqual(['ALM_PLAN_MEMBER_REPEATED', 'ALM_PLAN_MEMBER_GAINS_AND_LOSES']);
    expect(warnings[0]?.message).toContain('1 member stands in more than one row: 11 on lines 2 and 3');
  });

  it('gives one warning for a thousand repeated members, with the first lines', async () => {
    const rows = Array.from({ length: 2000 }, (_, index) => `${1000 + (index % 1000)},5\n`).join('');
    const { warnings } = await readBytes(`member,tokens\n${rows}`);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.message).toContain(
      '1000 members stand in more than one row: 1000 on lines 2 and 1002;',
    );
  });

  it('keeps sums and nets exact beyond 2^53', async () => {
    const { through } = await readBytes(`member,tokens\n${'1,9007199254740991\n'.repeat(3)}1,-1\n`);
    expect(through?.totals.tokens.credit).toBe(3n * 9007199254740991n);
    expect(through?.totals.busiest[0]?.net).toBe(3n * 9007199254740991n - 1n);
  });

  it('refuses a file over the cap of a batch, with both sums; duplicates do not count', async () => {
    const file = 'member,tokens,reference\n1,60,a\n2,-50,b\n1,60,a\n';
    const over = await readBytes(file, { maxTokensPerBatch: 109 });
    expect(codes(over.faults)).toEqual(['ALM_PLAN_OVER_BATCH_CAP']);
    expect(over.faults[0]?.message).toContain('would move 110 points, 1 more than the cap of 109');
    expect((await readBytes(file, { maxTokensPerBatch: 110 })).faults).toEqual([]);
  });

  it('holds every order to its cap as a fault of its row', async () => {
    const reading = await readBytes('member,tokens\n1,10\n2,11\n', { maxTokensPerOrder: 10 });
    expect(reading.faults).toMatchObject([{ line: 3, column: 'tokens', code: 'ALM_ROW_TOKENS_OVER_CAP' }]);
  });
});

describe('ids that end in zeros after digit 15', () => {
  const file = (ids: readonly string[]) => `member,tokens\n${ids.map((id) => `${id},5\n`).join('')}`;
  const sound = (count: number, digits: number) =>
    Array.from(
      { length: count },
      (_, index) => `${10 ** 8 + index * 7919}`.padEnd(digits - 1, '4831') + (1 + (index % 9)),
    );

  it('are damage when many do, however many sound ones there are', async () => {
    const damaged = Array.from({ length: 12 }, (_, index) => `1192837465019${10 + index}000`);
    expect(codes((await readBytes(file([...sound(500, 18), ...damaged]))).faults)).toEqual([
      'ALM_PLAN_IDS_DAMAGED',
    ]);
    expect(codes((await readBytes(file(damaged.slice(0, 2)))).faults)).toEqual(['ALM_PLAN_IDS_DAMAGED']);
  });

  it('are a warning when one does, and one id in many rows is one', async () => {
    const one = Array.from({ length: 50 }, () => '119283746501920000');
    const reading = await readBytes(file([...sound(50, 18), ...one]));
    expect(reading.faults).toEqual([]);
    expect(codes(reading.warnings)).toContain('ALM_PLAN_ID_ENDS_IN_ZEROS');
  });

  it('are nothing among ids that a power of two divides, as those of chat services', async () => {
    // Milliseconds in the upper bits and nothing in the lowest twelve: one in 625 of 19 digits ends in four zeros.
    const ids = Array.from({ length: 5_000 }, (_, index) =>
      String(((330_000_000_000n + BigInt(index) * 7_919n) << 22n) | (BigInt(index % 32) << 17n)),
    );
    const ending = ids.filter((id) => id.endsWith('0000'));
    expect([ending.length > 2, ids[0]?.length]).toEqual([true, 19]);
    expect((await readBytes(file(ids))).faults).toEqual([]);
    const rounded = ids.slice(0, 400).map((id) => `${id.slice(0, 15)}0000`);
    expect(codes((await readBytes(file([...ids.slice(400), ...rounded]))).faults)).toEqual([
      'ALM_PLAN_IDS_DAMAGED',
    ]);
  });

  it('are nothing where chance explains them: one in ten of 16 digits', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `119283746501${1000 + index}`);
    const reading = await readBytes(file(ids));
    expect([...codes(reading.faults), ...codes(reading.warnings)]).toEqual([]);
  });
});

describe('the member table', () => {
  it('tells every id from every other and gives it back', () => {
    const members = new Members();
    const ids = ['0', '7', '999999999', '1000000000', '18446744073709551616', '99999999999999999999'];
    ids.push('119283746501928374', '1192837465019283740');
    const entries = ids.map((id, line) => members.touch(memberId(id), 1, line));
    expect(new Set(entries).size).toBe(ids.length);
    expect(entries.map((entry) => members.idOf(entry))).toEqual(ids);
  });
});

describe('amounts', () => {
  it('know their median within 3 % and the largest few exactly', () => {
    const amounts = new Amounts();
    for (let value = 1; value <= 100_001; value++) amounts.add(value, value);
    expect(Math.abs(amounts.median() - 50_001)).toBeLessThan(50_001 * 0.035);
    expect(amounts.largest.map((amount) => amount.tokens)).toEqual([
      100_001, 100_000, 99_999, 99_998, 99_997,
    ]);
  });

  it('take the largest there is', () => {
    const amounts = new Amounts();
    amounts.add(Number.MAX_SAFE_INTEGER, 2);
    expect(amounts.median()).toBeGreaterThan(Number.MAX_SAFE_INTEGER * 0.96);
  });

  it('of a mixed file are not called unusual when half of them are large', async () => {
    const rows = Array.from(
      { length: 40 },
      (_, index) => `${1000 + index},${index % 2 === 0 ? 5 : 50_000}\n`,
    ).join('');
    const reading = await readBytes(`member,tokens\n${rows}9,50000\n`);
    expect(codes(reading.warnings)).toEqual([]);
  });
});
