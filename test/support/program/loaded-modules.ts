import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { z } from 'zod';
import { startAlmoner } from './almoner.js';

/** The dependencies and the folders of src that a command loads when it runs as a process. */
type Loaded = { readonly packages: string; readonly folders: string };

const PRELOAD = pathToFileURL(join(import.meta.dirname, '../loaded-files-preload.mjs')).href;
const { dependencies } = z
  .object({ dependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));

/** The modules that every command with a store loads. */
const STORE: Loaded = {
  packages: 'commander fastest-levenshtein ioredis lru-cache pino zod',
  folders: 'cli core ledger operations runtime words yaml',
};

export async function loadedBy(command: string, folder: string, env: NodeJS.ProcessEnv): Promise<Loaded> {
  const file = join(folder, `loaded-by-${command.replaceAll(/\W/g, '-')}`);
  const { ended, stderr } = startAlmoner(command.split(' '), {
    cwd: folder,
    env: { ...env, LOADED_FILES: file },
    nodeArgs: ['--import', PRELOAD],
  });
  expect(await ended, stderr()).toBe(0);
  const addresses = new Set(readFileSync(file, 'utf8').trim().split('\n'));
  const modules = [...addresses].filter((address) => address.startsWith('file:')).flatMap(modulesIn);
  const named = (found: RegExp) => [
    ...new Set(modules.flatMap((module) => found.exec(module)?.[1] ?? []).sort()),
  ];
  return {
    packages: named(/.*\/?node_modules\/((?:@[^/]+\/)?[^/]+)\//)
      .filter((name) => Object.hasOwn(dependencies, name))
      .join(' '),
    folders: named(/^src\/([^/]+)\//).join(' '),
  };
}

export function beyondStore({ packages, folders }: Loaded): Loaded {
  return { packages: beyond(STORE.packages, packages), folders: beyond(STORE.folders, folders) };
}

/** The modules in a file: each chunk of the bundled command line names a module before its code. */
function modulesIn(address: string): readonly string[] {
  const file = fileURLToPath(address);
  if (file.includes('/node_modules/')) return [file];
  if (!file.includes('/dist/cli/')) return [file.replace(/^.*\/dist\//, 'src/')];
  return [...readFileSync(file, 'utf8').matchAll(/^\/\/ (\S+\.[cm]?[jt]s)$/gm)].map(([, name = '']) => name);
}

/** The difference between the list and what was loaded. A listed name that was not loaded carries a minus. */
function beyond(list: string, loaded: string): string {
  const [expected, found] = [list.split(' '), loaded.split(' ')];
  const missing = expected.filter((name) => !found.includes(name)).map((name) => `-${name}`);
  return [...found.filter((name) => !expected.includes(name)), ...missing].join(' ');
}
