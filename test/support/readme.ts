import { readFileSync } from 'node:fs';

/** The code blocks of one language under one heading of a page, so that a test runs exactly what the page shows. */
export function codeUnder(page: string, heading: string, language: string): string[] {
  const text = readFileSync(page, 'utf8');
  const [, after] = text.split(`\n## ${heading}\n`);
  if (after === undefined) throw new Error(`${page} has no heading “${heading}”`);
  const [section = ''] = after.split(/\n## /);
  return [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter((match) => match[1] === language)
    .map((match) => match[2] ?? '');
}
