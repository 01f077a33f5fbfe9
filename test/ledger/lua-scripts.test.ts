import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { paceConstantsLua } from '../../src/core/pace-constants.js';
import { LEDGER_SCRIPTS } from '../../src/ledger/lua-scripts.js';
import { recordFieldsLua } from '../../src/ledger/record-fields.js';

const LEDGER = join(import.meta.dirname, '../../src/ledger');
const paths = readdirSync(LEDGER, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.lua') && dirname(path) !== 'includes',
);

/** Fragments that are generated rather than read from files. */
const MADE: Readonly<Record<string, () => string>> = {
  'record-fields': recordFieldsLua,
  'pace-constants': paceConstantsLua,
};

/** The script with all of its fragments, assembled from the files. */
function whole(path: string): string {
  const text = readFileSync(join(LEDGER, path), 'utf8');
  return text.replace(
    /^--- @include "([a-z-]+)"$/gm,
    (_, name: string) => MADE[name]?.() ?? whole(join('includes', `${name}.lua`)),
  );
}

const withoutComments = (text: string) =>
  text.replace(/--\[==\[[\s\S]*?\]==\]/g, '').replace(/^\s*--.*$/gm, '');
const functionsIn = (text: string) =>
  [...text.matchAll(/^local function (\w+)/gm)].map(([, name = '']) => name);
const namedIn = (text: string, name: string) => text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0;

describe('a script contains exactly the functions that it names', () => {
  test.each(paths)('%s', (path) => {
    const sent = LEDGER_SCRIPTS.get(basename(path, '.lua'))?.text ?? '';
    const all = whole(path);
    if (sent === all) return;
    const kept = functionsIn(sent);
    const missing = functionsIn(all).filter((name) => !kept.includes(name) && namedIn(sent, name) > 0);
    expect(missing).toEqual([]);
    expect(kept.filter((name) => namedIn(sent, name) < 2)).toEqual([]);
  });

  test('only functions and comments are left out', () => {
    for (const path of paths) {
      const sent = new Set((LEDGER_SCRIPTS.get(basename(path, '.lua'))?.text ?? '').split('\n'));
      const outside = withoutComments(whole(path).replace(/^local function [\s\S]*?^end$/gm, ''));
      expect(
        outside
          .split('\n')
          .filter((line) => line !== '' && !line.startsWith('local function') && !sent.has(line)),
      ).toEqual([]);
    }
  });
});
