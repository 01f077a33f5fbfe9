import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { oneLine, spelledOut, spelledOutJson } from '../../src/core/one-line.js';
import { anyText } from '../support/hostile.js';

const OBEYED = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

describe('text of strangers', () => {
  test('stands on one line, and no terminal obeys it', () => {
    fc.assert(
      fc.property(anyText(80), (text) => {
        expect(oneLine(text)).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
      }),
      { numRuns: 500 },
    );
    expect(oneLine(' no \u001b[31mmember\r\nerror: forged\u2028x\u202e ')).toBe(
      'no  [31mmember error: forged x',
    );
  });

  test('is spelt out on its way to a terminal, where it came that far; colours and line ends are ours', () => {
    fc.assert(
      fc.property(anyText(80), (text) => {
        expect(spelledOut(text)).not.toMatch(OBEYED);
      }),
      { numRuns: 500 },
    );
    expect(spelledOut('\u001b[1mbold\u001b[22m\n\tx')).toBe('\u001b[1mbold\u001b[22m\n\tx');
    expect(spelledOut('\u001b]0;title\u0007\r')).toBe('\\u001b]0;title\\u0007\\u000d');
  });

  test('in JSON it is the same text when it is read again', () => {
    fc.assert(
      fc.property(anyText(80), (text) => {
        const json = spelledOutJson(JSON.stringify({ text }));
        expect(json).not.toMatch(OBEYED);
        expect(JSON.parse(json)).toEqual({ text });
      }),
      { numRuns: 500 },
    );
  });
});
