import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Redis } from 'ioredis';
import { messageOf } from '../core/errors/error.js';
import { paceConstantsLua } from '../core/pace-constants.js';
import { recordFieldsLua } from './record-fields.js';

/** A Lua script as the store gets it, and the hash by which the store knows it. */
export type LuaScript = { readonly name: string; readonly text: string; readonly sha: string };

/** Each script lies beside the one file that calls it. Fragments that several scripts share lie in `includes`. */
const folder = import.meta.dirname;
const INCLUDES = 'includes';
/** Many scripts share a fragment; it is read once. These two are no files: each is made from a table that TypeScript uses as well. */
const included = new Map([
  ['record-fields', recordFieldsLua()],
  ['pace-constants', paceConstantsLua()],
]);

export const LEDGER_SCRIPTS: ReadonlyMap<string, LuaScript> = new Map(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.lua') && dirname(path) !== INCLUDES)
    .map((path) => [basename(path, '.lua'), load(path)]),
);

function load(path: string): LuaScript {
  const text = expand(path);
  return { name: basename(path, '.lua'), text, sha: createHash('sha1').update(text).digest('hex') };
}

function expand(path: string): string {
  return readFileSync(join(folder, path), 'utf8').replace(
    /^--- @include "([a-z-]+)"$/gm,
    (_, include: string) => {
      const text = included.get(include) ?? expand(join(INCLUDES, `${include}.lua`));
      included.set(include, text);
      return text;
    },
  );
}

/**
 * Loads the scripts that this server does not know yet, and returns those that it refuses. A script that does not
 * compile would otherwise be met in the middle of a batch: after the request has left, for instance, by settle.
 */
export async function loadScripts(
  redis: Redis,
  scripts: Iterable<LuaScript>,
): Promise<{ readonly script: string; readonly message: string }[]> {
  const all = [...scripts];
  const known: unknown = await redis.script('EXISTS', ...all.map(({ sha }) => sha));
  // Redis 6.2 writes each loaded script into its append-only file, so that known scripts are left out.
  const missing = all.filter((_, at) => !Array.isArray(known) || known[at] !== 1);
  const loaded = await Promise.all(
    missing.map(async ({ name, text }) => {
      try {
        await redis.script('LOAD', text);
        return [];
      } catch (error) {
        if (!/error compiling script/i.test(messageOf(error))) throw error;
        return [{ script: name, message: messageOf(error) }];
      }
    }),
  );
  return loaded.flat();
}
