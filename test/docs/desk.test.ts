import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';

const script = z.object({
  PAGES: z.array(z.object({ page: z.string(), picture: z.string() })),
  pictureFile: z.custom<(page: { picture: string }) => string>((value) => typeof value === 'function'),
});
const { PAGES, pictureFile } = script.parse(await import(resolve('scripts/desk-pictures.mjs')));
const IMAGES = 'docs/images';

test('every page of the desk has its picture in docs/reference/desk.md (node scripts/desk-pictures.mjs takes them)', () => {
  const main = readFileSync('src/desk/web/main.tsx', 'utf8');
  const shown = [...main.matchAll(/<(\w+Page|Login)\b/g)].map(([, name]) => name);
  const pages = new Set(shown.filter((name) => name !== 'NoPage'));
  expect(PAGES.map(({ page }) => page).sort()).toEqual([...pages].sort());
  const text = readFileSync('docs/reference/desk.md', 'utf8');
  const missing = PAGES.map(pictureFile).filter((file) => !text.includes(`(../images/${file})`));
  expect(missing).toEqual([]);
});

test('every address of the desk is named there', () => {
  const main = readFileSync('src/desk/web/main.tsx', 'utf8');
  const places = [...main.matchAll(/^ {4}case '(\w+)':/gm)].map(([, place = '']) => `\`/${place}`);
  const text = readFileSync('docs/reference/desk.md', 'utf8');
  expect(places.length).toBeGreaterThan(9);
  expect(places.filter((place) => !text.includes(place))).toEqual([]);
});

test('the pictures are there and small, and there is no other', () => {
  const files = PAGES.map(pictureFile);
  expect(files.filter((file) => !existsSync(join(IMAGES, file)))).toEqual([]);
  const sizes = files.map((file) => statSync(join(IMAGES, file)).size);
  expect(Math.max(...sizes)).toBeLessThan(100_000);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_000_000);
  const others = readdirSync(IMAGES).filter((file) => file.startsWith('desk-') && !files.includes(file));
  expect(others).toEqual([]);
});
