import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Redis } from 'ioredis';
import { messageOf } from '../core/errors/error.js';
import { recordFieldsLua } from './record-fields.js';

/** A Lua script as the store gets it, and the hash by which the store knows it. */
export type LuaScript = { readonly name: string; readonly text: string; readonly sha: string };

/** Each script lies beside the one file that calls it. Fragments that several scripts share lie in `includes`. */
const folder = import.meta.dirname;
const INCLUDES = 'includes';
const INCLUDE = /^--- @include "([a-z-]+)"$/;
const COMMENTS = /^--\[==\[[\s\S]*?\]==\]\n|^ *--(?!- @include).*\n/gm;
const FUNCTION = /^local function (\w+)/;
const WORDS = /[A-Za-z_]\w*/g;
const FUNCTION_END = /^end$|^local function .* end$/;

/** A function at the top level, or what stands between two of them (then without a name). */
type Piece = {
  readonly name: string | null;
  readonly text: string;
  /** The functions that it names; known once all are read. */
  names?: readonly string[];
};

const functionNames = new Set<string>();
/** Many scripts share a fragment; it is read once. This one is no file: it is made from the table of the fields. */
const included = new Map([['record-fields', piecesOf(recordFieldsLua())]]);

export const LEDGER_SCRIPTS: ReadonlyMap<string, LuaScript> = new Map(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.lua') && dirname(path) !== INCLUDES)
    .map((path) => [basename(path, '.lua'), read(path)] as const)
    // In a build every script is whole already (see scripts/build.mjs).
    .map(([name, text]) => [name, text.includes('--- @include') ? piecesOf(text) : text] as const)
    .map(([name, found]) => [name, scriptOf(name, typeof found === 'string' ? found : withoutUnused(found))]),
);

function read(path: string): string {
  return readFileSync(join(folder, path), 'utf8');
}

function scriptOf(name: string, text: string): LuaScript {
  return { name, text, sha: createHash('sha1').update(text).digest('hex') };
}

/** A script or fragment without its comments, its includes in their places. */
function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let name: string | null = null;
  let lines: string[] = [];
  const endPiece = () => {
    if (lines.length > 0) pieces.push({ name, text: `${lines.join('\n')}\n` });
    [name, lines] = [null, []];
  };
  for (const line of text.replace(COMMENTS, '').split('\n')) {
    const include = INCLUDE.exec(line)?.[1];
    const begun = FUNCTION.exec(line)?.[1];
    if (include !== undefined || begun !== undefined) endPiece();
    if (include !== undefined) {
      pieces.push(...fragment(include));
      continue;
    }
    if (begun !== undefined) {
      name = begun;
      functionNames.add(begun);
    }
    if (line !== '') lines.push(line);
    if (name !== null && FUNCTION_END.test(line)) endPiece();
  }
  endPiece();
  return pieces;
}

function fragment(name: string): Piece[] {
  const pieces = included.get(name) ?? piecesOf(read(join(INCLUDES, `${name}.lua`)));
  included.set(name, pieces);
  return pieces;
}

/**
 * A fragment serves many scripts, and each script needs some of its functions. Every call of a script makes all its
 * functions anew, and a new store compiles them all: without the unused ones the scripts are a third as long.
 */
function withoutUnused(pieces: readonly Piece[]): string {
  const needed = new Set<string | null>([null]);
  let left = pieces;
  for (let found = 0; found < needed.size; ) {
    found = needed.size;
    const waiting: Piece[] = [];
    for (const piece of left)
      if (needed.has(piece.name)) for (const name of namesIn(piece)) needed.add(name);
      else waiting.push(piece);
    left = waiting;
  }
  return pieces
    .filter(({ name }) => needed.has(name))
    .map(({ text }) => text)
    .join('');
}

function namesIn(piece: Piece): readonly string[] {
  piece.names ??= [...new Set(piece.text.match(WORDS)?.filter((word) => functionNames.has(word)))];
  return piece.names;
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
