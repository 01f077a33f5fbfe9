import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TABLE } from '../src/cli/frame/table.js';

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

describe.each(pages)('%s', (page) => {
  const text = readFileSync(page, 'utf8');

  test('links to pages, files and headings that exist', () => {
    const broken = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map((match) => match[1] ?? '')
      .filter((target) => !/^(https?:|mailto:)/.test(target))
      .filter((target) => {
        const [path = '', heading] = target.split('#');
        const file = path === '' ? page : join(dirname(page), path);
        return (
          !existsSync(file) ||
          (heading !== undefined && !headings(readFileSync(file, 'utf8')).includes(heading))
        );
      });
    expect(broken).toEqual([]);
  });

  test('names no command that does not exist', () => {
    const firstWords = new Set(TABLE.map(({ name }) => name.split(' ')[0]));
    // In code only: behind a backtick, or at the beginning of a line of a code block.
    const wrong = [...text.matchAll(/(?:`|^)almoner ([a-z]+)/gm)]
      .map((match) => match[1] ?? '')
      .filter((word) => !firstWords.has(word));
    expect(wrong).toEqual([]);
  });
});

function headings(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  );
}
