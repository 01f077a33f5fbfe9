import { describe, expect, it } from 'vitest';
import { type OnNote, readMemberCell, readReferenceCell, readTokensCell } from '../../src/csv/cells.js';
import { readOpCell } from '../../src/csv/read-row.js';

function messageOf(read: unknown): string {
  return typeof read === 'object' && read !== null && 'message' in read
    ? String(read.message)
    : `read ${read}`;
}

describe('an id cell', () => {
  it.each([
    ['9007199254740993', '9007199254740993'],
    [' 119 ', '119'],
    ['="119283746501928374"', '119283746501928374'],
    ['0', '0'],
  ])('reads %j exactly as text', (cell, id) => {
    expect(readMemberCell(cell)).toBe(id);
  });

  it.each([
    ['1.19E+18', /scientific notation.*as text/],
    ['1,19E+18', /scientific notation.*as text/],
    ['119\u200b283', /U\+200B ZERO WIDTH SPACE/],
    ['\u202e119', /U\+202E RIGHT-TO-LEFT OVERRIDE/],
    ['119\u00a0', /U\+00A0 NO-BREAK SPACE/],
    ['\ufeff119', /U\+FEFF ZERO WIDTH NO-BREAK SPACE/],
    ['\u0661\u0662', /U\+0661 ARABIC-INDIC DIGIT 1/],
    ['\uff11', /U\+FF11 FULLWIDTH DIGIT 1/],
    ['\u{1d7d8}', /U\+1D7D8, a digit that is not 0 to 9/],
    ['-5', /has a sign/],
    ['119 283', /blanks inside/],
    ['119,283', /thousands separators/],
    ['119.0', /decimal point/],
    ['<@&119>', /not a mention of a member/],
    ['<#119>', /not a mention of a member/],
    ["'Ann", /is not an id/],
    ["''119", /is not an id/],
    ['0x52908400098527886E0F7030069857D2E4169EE7', /wallet address/],
    ['=A1', /a formula/],
    ['', /empty/],
    ['123456789012345678901', /has 21 digits; expected 1 to 20/],
    ['007', /"007" begins with a zero.*another member\. Write the id as its source shows it/],
    ['="0119"', /"0119" begins with a zero.*take it for 119/],
    ['<@0119>', /"0119" begins with a zero/],
    ['00', /"00" begins with a zero.*take it for 0,/],
    ['Ann', /"Ann" is not an id; expected 1 to 20 decimal digits/],
  ])('refuses %j by name', (cell, message) => {
    expect(messageOf(readMemberCell(cell))).toMatch(message);
  });
});

const noted = (read: (note: OnNote) => unknown) => {
  const notes: string[] = [];
  return [read((note, as) => notes.push(`${note} ${as}`)), notes];
};

describe('what is not written plainly and has one meaning is taken with a note', () => {
  it.each([
    ['<@119283746501928374>', 'mention'],
    ['<@!119283746501928374>', 'mention'],
    ["'119283746501928374", 'apostrophe'],
    [" '119283746501928374 ", 'apostrophe'],
  ])('the id in %j', (cell, note) => {
    expect(noted((onNote) => readMemberCell(cell, onNote))).toEqual([
      '119283746501928374',
      [`${note} 119283746501928374`],
    ]);
  });

  it.each([
    ['5.00', 5, ['zeros 5']],
    ['5,0', 5, ['zeros 5']],
    ['-5.0', -5, ['zeros -5']],
    ['+5', 5, ['plus 5']],
    ['+5.00', 5, ['plus 5', 'zeros 5']],
    ['1000,00', 1000, ['zeros 1000']],
    ['+005', 5, ['plus 5']],
    ['5', 5, []],
  ])('the amount %j', (cell, signed, notes) => {
    const amount = { negative: signed < 0, amount: Math.abs(signed) };
    expect(noted((onNote) => readTokensCell(cell, null, onNote))).toEqual([amount, notes]);
  });
});

describe('a tokens cell', () => {
  it('reads digits with an optional minus, and blanks around them', () => {
    expect(readTokensCell(' -5 ', null)).toEqual({ negative: true, amount: 5 });
    expect(readTokensCell('9007199254740991', null)).toEqual({ negative: false, amount: 9007199254740991 });
  });

  it.each([
    ['1,000', /thousands separator/],
    ['1.000', /thousands separator, or is a decimal fraction/],
    ['1e3', /scientific notation/],
    ['0x10', /hexadecimal/],
    ['5.000', /thousands separator, or is a decimal fraction/],
    ['5.5', /decimal fraction/],
    ['5.', /decimal fraction/],
    ['1.000,00', /is not a number/],
    ['+-5', /is not a number/],
    ['0.00', /pays nothing/],
    ['+', /is not a number/],
    ['\u22125', /U\+2212 MINUS SIGN/],
    ['5\u200b', /U\+200B ZERO WIDTH SPACE/],
    ['\u0665', /U\+0665 ARABIC-INDIC DIGIT 5/],
    ['5 5', /blanks inside/],
    ['', /empty/],
    ['0', /pays nothing/],
    ['9007199254740992', /above 9007199254740991/],
    ['ten', /"ten" is not a number/],
  ])('refuses %j by name', (cell, message) => {
    expect(messageOf(readTokensCell(cell, null))).toMatch(message);
  });

  it('holds each order to the cap, whatever its sign', () => {
    expect(readTokensCell('100', 100)).toEqual({ negative: false, amount: 100 });
    expect(messageOf(readTokensCell('-101', 100))).toMatch(/above the cap of 100/);
  });
});

describe('a reference cell', () => {
  it('is trimmed, and nothing when empty', () => {
    expect(readReferenceCell('  week 42 / Ann ')).toBe('week 42 / Ann');
    expect(readReferenceCell('   ')).toBeNull();
    expect(readReferenceCell('x'.repeat(200))).toHaveLength(200);
  });

  it('keeps undo: for the undo of an order', () => {
    expect(readReferenceCell('undo:b7k2m9-12')).toBe('undo:b7k2m9-12');
    for (const cell of [
      'undo:',
      'undo:b7k2m9',
      'Undo:b7k2m9-1',
      'undo:b7k2m9-0',
      'undo :b7k2m9-1',
      'undo： b7k2m9-1',
      'ｕｎｄｏ:b7k2m9-1',
    ])
      expect(messageOf(readReferenceCell(cell))).toMatch(/begins with "undo:"/);
  });

  it('refuses what looks like another reference and is not', () => {
    expect(messageOf(readReferenceCell('a\u2060b'))).toMatch(/U\+2060 WORD JOINER/);
    expect(messageOf(readReferenceCell('a\u0007b'))).toMatch(/U\+0007 CONTROL CHARACTER/);
    expect(messageOf(readReferenceCell('x'.repeat(201)))).toMatch(/longer than 200/);
  });
});

it('an op cell takes the three ops in any case, and emptiness', () => {
  expect(['credit', ' Debit ', 'TRANSFER', ''].map(readOpCell)).toEqual([
    'credit',
    'debit',
    'transfer',
    null,
  ]);
  expect(messageOf(readOpCell('add'))).toMatch(/expected credit, debit, transfer/);
});
