import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const names = z.record(z.string(), z.string());
const manifest = z
  .object({ dependencies: names, devDependencies: names })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));
const lock = z
  .object({
    packages: z.record(
      z.string(),
      z.object({
        version: z.string().optional(),
        hasInstallScript: z.boolean().optional(),
        optional: z.boolean().optional(),
        dependencies: names.optional(),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync('package-lock.json', 'utf8')));

/** The first column of the table under a heading of docs/architecture.md, and what stands beside it. */
function table(heading: string): Map<string, string> {
  const text = readFileSync('docs/architecture.md', 'utf8');
  const [, after = ''] = text.split(`\n## ${heading}\n`);
  const [section = ''] = after.split(/\n## /);
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1);
  return new Map(
    rows.flatMap((line) => {
      const [, packages = '', why = ''] = line.split('|').map((cell) => cell.trim());
      return packages.split(', ').map((name): [string, string] => [name, why]);
    }),
  );
}

describe('dependencies', () => {
  test('docs/architecture.md says of each why it is here, and of no other', () => {
    const told = table('Dependencies');
    const all = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)];
    expect([...told.keys()].sort()).toEqual(all.sort());
    for (const [name, why] of told) expect([name, why.length > 10]).toEqual([name, true]);
  });

  test('bullmq is the one version that the tests run with, for users of the library as well', () => {
    const installed = z
      .object({ version: z.string() })
      .parse(JSON.parse(readFileSync('node_modules/bullmq/package.json', 'utf8')));
    const exact = manifest.dependencies.bullmq;
    expect(exact).toMatch(/^\d+\.\d+\.\d+$/);
    expect([
      lock.packages['']?.dependencies?.bullmq,
      lock.packages['node_modules/bullmq']?.version,
      installed.version,
    ]).toEqual([exact, exact, exact]);
    const copies = Object.keys(lock.packages).filter((path) => path.endsWith('node_modules/bullmq'));
    expect(copies).toEqual(['node_modules/bullmq']);
  });

  /** Each with the reason why nothing is lost where its script does not run. */
  const SCRIPTS: Readonly<Record<string, string>> = {
    'node_modules/msgpackr-extract':
      'native speed for a codec that also works in JavaScript; its binaries come as packages',
  };

  test('none needs an install script: those that have one are optional', () => {
    const having = Object.entries(lock.packages).filter(
      ([, { hasInstallScript }]) => hasInstallScript === true,
    );
    expect(having.map(([name]) => name)).toEqual(Object.keys(SCRIPTS));
    for (const [name, { optional }] of having) expect([name, optional]).toEqual([name, true]);
  });
});
