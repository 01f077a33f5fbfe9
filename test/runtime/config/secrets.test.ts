import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { keyWarnings, readKey } from '../../../src/runtime/config/secrets.js';
import { folderWith } from './load-config.js';

const missing = (part: string) =>
  expect.objectContaining({
    code: 'ALM_CONFIG_KEY_MISSING',
    exit: 2,
    message: expect.stringContaining(part),
  });

describe('a key is read where and when it is used', () => {
  test('from the environment, trimmed', () => {
    expect(readKey({ from: 'env', name: 'K' }, { K: ' abc\n' })).toBe('abc');
  });

  test('from a file, each time anew', () => {
    const path = join(folderWith({ key: '\uFEFFfirst\r\n' }), 'key');
    expect(readKey({ from: 'file', path }, {})).toBe('first');
    writeFileSync(path, 'second\n');
    expect(readKey({ from: 'file', path }, {})).toBe('second');
  });

  test.each(['', '   ', '\n'])('an empty one (%j) is refused', (text) => {
    expect(() => readKey({ from: 'env', name: 'K' }, { K: text })).toThrow(
      missing('environment variable K holds no key'),
    );
    const path = join(folderWith({ key: text }), 'key');
    expect(() => readKey({ from: 'file', path }, {})).toThrow(missing('holds no key'));
  });

  test('an unset variable, a missing file and a folder are refused by name', () => {
    const folder = folderWith();
    expect(() => readKey({ from: 'env', name: 'K' }, {})).toThrow(missing('environment variable K'));
    expect(() => readKey({ from: 'file', path: join(folder, 'none') }, {})).toThrow(missing('ENOENT'));
    expect(() => readKey({ from: 'file', path: folder }, {})).toThrow(missing('not a file'));
  });

  test.each(['a b', 'a\r\nX-Evil: 1', 'schlüssel', 'a\u200bb'])(
    '%j cannot go into a header and is not repeated',
    (key) => {
      try {
        readKey({ from: 'env', name: 'K' }, { K: key });
        expect.unreachable();
      } catch (error) {
        expect(error).toEqual(missing('odd characters'));
        expect(String(error)).not.toContain(key);
      }
    },
  );

  test('the embedded realm has none to read', () => {
    expect(() => readKey({ from: 'embedded' }, {})).toThrow(/provides its own key/);
  });
});

test('a key file that others can read is warned about', () => {
  const path = join(folderWith({ key: 'k' }), 'key');
  chmodSync(path, 0o644);
  expect(keyWarnings({ from: 'file', path })).toEqual([expect.stringContaining('mode 644')]);
  chmodSync(path, 0o600);
  expect(keyWarnings({ from: 'file', path })).toEqual([]);
  expect(keyWarnings({ from: 'file', path: `${path}-none` })).toEqual([]);
});
