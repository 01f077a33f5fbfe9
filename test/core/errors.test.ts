import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CATALOGUE } from '../../src/core/errors/catalogue.js';

const codes = Object.keys(CATALOGUE);

/** The entries of docs/reference/errors.md, read back. */
function documented(): Readonly<Record<string, { means: string; next: string; exit: number }>> {
  const page = readFileSync('docs/reference/errors.md', 'utf8');
  const entries = page.matchAll(/^- `(ALM_[A-Z0-9_]+)` \((\d+)\) (.+?)\\\n(.+?)(?=\n- |\n\n|\n$)/gms);
  const oneLine = (text = '') => text.trim().replaceAll(/\n +/g, ' ');
  return Object.fromEntries(
    [...entries].map(([, code = '', exit, means, next]) => [
      code,
      { means: oneLine(means), next: oneLine(next), exit: Number(exit) },
    ]),
  );
}

function sourceOutsideTheCatalogue(): string {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(ts|tsx|lua)$/.test(path) && !/^core[\\/]errors[\\/](?!error\.ts)/.test(path))
    .map((path) => readFileSync(join('src', path), 'utf8'))
    .join('\n');
}

describe('the catalogue of errors', () => {
  test('docs/reference/errors.md says exactly what the program says (node scripts/write-error-docs.mjs writes it)', () => {
    expect(documented()).toEqual(CATALOGUE);
  });

  test.each(codes)('%s is a code of the house', (code) => {
    expect(code).toMatch(/^ALM_[A-Z]+_[A-Z_]+$/);
  });

  test.each(Object.entries(CATALOGUE))(
    '%s says what it means and what to do, in whole sentences',
    (_, entry) => {
      expect(entry.means).toMatch(/^\S.*[.]$/);
      expect(entry.next).toMatch(/^\S.*[.]$/);
    },
  );

  test('every code is used somewhere', () => {
    const source = sourceOutsideTheCatalogue();
    const unused = codes.filter((code) => !new RegExp(`\\b${code}\\b`).test(source));
    expect(unused).toEqual([]);
  });
});
