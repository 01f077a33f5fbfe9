import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const source = readFileSync('src/desk/live/metrics.ts', 'utf8');
const page = readFileSync('docs/reference/metrics.md', 'utf8');

/** `name type label, label`, sorted. */
const described = [...page.matchAll(/^\| `almoner_(\w+)` \| (\w+) \| ([^|]*)\|/gm)]
  .map(([, name, type, labels = '']) => `${name} ${type} ${labels.replaceAll('`', '').trim()}`)
  .sort();

test('the page of metrics lists every metric of the desk with type and labels, and no other', () => {
  const made = [
    ...source.matchAll(/\b(gauge|counter)\(\s*'(\w+)',\s*(?:'[^']*'|"[^"]*"),\s*\[([^\]]*)\]/g),
  ].map(
    ([, type, name, labels = '']) =>
      `${name} ${type} ${[...labels.matchAll(/'(\w+)'/g)].map(([, label]) => label).join(', ')}`,
  );
  // Every call was read, whatever its text looks like.
  expect(made.length).toBe([...source.matchAll(/\b(gauge|counter)\(\s*'/g)].length);
  expect(source).toContain("const NAME = 'almoner_request_seconds';");
  expect(described).toEqual([...made, 'request_seconds histogram realm'].sort());
});

test('the metrics that alerts and dashboard ask for are in the list', () => {
  const names = new Set(described.map((line) => line.split(' ')[0]));
  const asked = ['deploy/monitoring/alerts.yml', 'deploy/monitoring/grafana/almoner.json'].flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\balmoner_(\w+)/g)].map(([, name = '']) =>
      name.replace(/^(request_seconds)_(?:bucket|sum|count)$/, '$1'),
    ),
  );
  expect(asked.length).toBeGreaterThan(10);
  expect(asked.filter((name) => !names.has(name))).toEqual([]);
});
