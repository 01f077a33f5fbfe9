import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nestedLongBrackets } from '../support/lua-lexer.js';

const SRC = join(import.meta.dirname, '../../src');
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.lua'));

describe('every script compiles under the strict check of Lua 5.1', () => {
  test.each(files)('%s', (path) => {
    expect(nestedLongBrackets(readFileSync(join(SRC, path), 'utf8'))).toEqual([]);
  });

  test('the check finds nested long brackets and nothing else', () => {
    expect(nestedLongBrackets('--[[\n  ARGV[1] JSON [[no, index], …]\n]]\nreturn 1')).toEqual([2]);
    expect(nestedLongBrackets('local text = [[ a [[ b ]]')).toEqual([1]);
    expect(nestedLongBrackets('--[==[ [[no, index], …] ]==] return {{1}, t[t[1]]}')).toEqual([]);
    expect(nestedLongBrackets("-- [[\nlocal text = '--[[ [[' return text")).toEqual([]);
  });
});
