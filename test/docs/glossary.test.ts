import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { WAITING_WHYS } from '../../src/core/may-send.js';
import { PRESENCE } from '../../src/core/presence.js';
import { CERTAINTIES } from '../../src/core/profile.js';
import { BATCH_STATES, ORDER_STATES } from '../../src/core/states.js';
import { headingsOf } from '../support/docs/pages.js';

const text = readFileSync('docs/reference/glossary.md', 'utf8');

/** The terms that entries of a section define. */
function termsUnder(heading: string): string[] {
  const [, after = ''] = text.split(`\n## ${heading}\n`);
  const [section = ''] = after.split('\n## ');
  return [...section.matchAll(/^- \*\*([^*]+)\*\*: /gm)].map(([, term = '']) => term);
}

const every = [...text.matchAll(/\*\*([^*]+)\*\*/g)].flatMap(([, term = '']) =>
  term.toLowerCase().split(', '),
);

/** Words in headings of docs/explanation that a dictionary explains. */
const ORDINARY = new Set(
  `a after almoner an and break bullmq by closes condition connection cost dashboard decide die dies does double figure file
  happen how input is known limit machine many mistake month not on one open or part payment people person procedure program
  promise promises purpose queue reliability scale security something state step that the these thousand threat to trusted
  two use uses what when who works`.split(/\s+/),
);
const singular = (word: string) => word.replace(/(?<=[sxz]|[cs]h)es$|(?<!s)s$/, '');

describe('the glossary', () => {
  test('defines every order state, batch state and waiting code, and no other', () => {
    expect(termsUnder('Order states')).toEqual([...ORDER_STATES]);
    expect(termsUnder('Batch states')).toEqual([...BATCH_STATES]);
    expect(termsUnder('Why an order waits').sort()).toEqual([...WAITING_WHYS].sort());
  });

  test('defines every certainty and every presence', () => {
    const presences = Object.values(PRESENCE).flatMap((row) => Object.values(row));
    const terms = [...CERTAINTIES, ...presences];
    expect(terms.filter((term) => !every.includes(term))).toEqual([]);
  });

  test('defines every word of the field in a heading of docs/explanation', () => {
    const pages = readdirSync('docs/explanation').map((file) =>
      readFileSync(`docs/explanation/${file}`, 'utf8'),
    );
    const known = new Set(every.flatMap((term) => term.split(/[ -]/)).map(singular));
    const words = pages
      .flatMap(headingsOf)
      .flatMap((heading) => heading.toLowerCase().match(/[a-z]+/g) ?? []);
    const unknown = words.filter(
      (word) => !ORDINARY.has(word) && !ORDINARY.has(singular(word)) && !known.has(singular(word)),
    );
    expect([...new Set(unknown)]).toEqual([]);
  });

  test('defines each term once within its section, in one line of at most 30 words', () => {
    const lines = text.split('\n').filter((line) => line.startsWith('- **'));
    expect(lines.length).toBeGreaterThan(120);
    expect(lines.filter((line) => line.split(/\s+/).length > 30)).toEqual([]);
    const sections = text
      .split('\n## ')
      .map((section) => [...section.matchAll(/^- \*\*([^*]+)\*\*/gm)].map(([, term]) => term));
    expect(sections.filter((terms) => new Set(terms).size < terms.length)).toEqual([]);
  });
});
