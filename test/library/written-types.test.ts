import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import * as parseInput from '../../src/library/parse-input.js';

type Views = Readonly<Record<string, unknown>>;
const write = z.custom<(views: Views, index: string) => string>((value) => typeof value === 'function');
const script = z.object({ outputTypes: write, optionTypes: write });
const { outputTypes, optionTypes } = script.parse(await import(resolve('scripts/write-library-types.mjs')));
const INDEX = readFileSync('src/index.ts', 'utf8');

async function allViews(): Promise<Views> {
  const names = readdirSync('src/operations/views').map((file) => file.replace(/\.ts$/, ''));
  // By a relative path: an absolute one may load a second instance beside that of other test files.
  const modules = await Promise.all(names.map((name) => import(`../../src/operations/views/${name}.ts`)));
  return Object.assign({}, ...modules);
}

test('the types of the library say exactly what the views say (node scripts/write-library-types.mjs writes them)', async () => {
  expect(readFileSync('src/library/output-types.ts', 'utf8')).toBe(outputTypes(await allViews(), INDEX));
});

test('the options of the library are exactly those that are read', () => {
  expect(readFileSync('src/library/option-types.ts', 'utf8')).toBe(optionTypes(parseInput, INDEX));
});

test('a field that is added to a view is in the library’s types, with its description', async () => {
  const views = await allViews();
  const before = outputTypes(views, INDEX);
  const { BatchProgress } = z.object({ BatchProgress: z.instanceof(z.ZodObject) }).parse(views);
  const wider = BatchProgress.extend({ colour: z.string().optional().describe('Of its label.') });
  const after = outputTypes({ ...views, BatchProgress: wider }, INDEX);
  expect(before).not.toContain('colour');
  expect(after).toContain('  /** Of its label. */\n  readonly colour?: string | undefined;\n');
});

test('a name that is exported without a schema is named', async () => {
  const { Report: _, ...rest } = await allViews();
  expect(() => outputTypes(rest, INDEX)).toThrow('src/index.ts exports Report, which has no schema');
});
