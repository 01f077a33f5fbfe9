import { readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { pagePaths, relativeLinks } from '../support/docs/pages.js';

const INDEX = 'docs/README.md';

test('the index of the documents names every page of docs once', () => {
  const named = relativeLinks(readFileSync(INDEX, 'utf8')).map((target) => normalize(join('docs', target)));
  const pages = pagePaths().filter((path) => path.startsWith('docs/') && path !== INDEX);
  expect(named.toSorted()).toEqual(pages);
});
