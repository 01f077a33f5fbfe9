import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NOTICE_EVENTS } from '../../src/core/notice-events.js';
import { RETRY_MS } from '../../src/desk/notify/outbox.js';
import { duration } from '../../src/words/spelling.js';

const page = readFileSync('docs/reference/notices.md', 'utf8');

test('the page of notices lists every event, and no other', () => {
  const listed = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]);
  expect(listed).toEqual([...NOTICE_EVENTS]);
});

test('it says when a letter is tried again, as it is', () => {
  const [first, second, ...rest] = RETRY_MS.map((ms) => duration(ms));
  const minutes = rest.filter((text) => text.endsWith('min')).map((text) => text.replace(' min', ''));
  const hours = rest.filter((text) => text.endsWith('h')).map((text) => text.replace(' h', ''));
  const list = (parts: string[]) => `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
  expect(page.replaceAll('\n', ' ')).toContain(
    `after ${first}, ${second}, ${list(minutes)} min, ${list(hours)} h: together a day`,
  );
});
