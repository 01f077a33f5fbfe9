import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Redis } from 'ioredis';
import { messageOf } from '../core/errors/error.js';
import { paceConstantsLua } from '../core/pace-constants.js';
import { recordFieldsLua } from './record-fields.js';

/** Each script lies beside the one file that calls it. Fragments that several scripts share lie in `includes`. */
const folder = import.meta.dirname;
const INCLUDES = 'includes';
const INCLUDE = /^--- @include "([a-z-]+)"$/;
const COMMENTS = /^--\[==\[[\s\S]*?\]==\]\n|^ *--(?!- @include).*\n/gm;
const FUNCTION = /^local function (\w+)/;
const FUNCTION_END = /^end$|^local function .* end$/;
const WORDS = /\w+/g;

/** A Lua script as the store gets it, and the hash by which the store knows it. */
export type LuaScript = { readonly name: string; readonly text: string; readonly sha: string };

/** Most commands call a few of the scripts: each is read when it is first asked for. */
class ScriptFile implements LuaScript {
  private read: { readonly text: string; readonly sha: string } | undefined;

  constructor(
    readonly name: string,
    private readonly path: string,
  ) {}

  get text(): string {
    return this.whole.text;
  }

  get sha(): string {
    return this.whole.sha;
  }

  private get whole() {
    if (this.read !== undefined) return this.read;
    const file = read(this.path);
    // In a build every script is whole already (see scripts/build.mjs).
    const text = file.includes('--- @include') ? withoutUnused(piecesOf(file)) : file;
    this.read = { text, sha: createHash('sha1').update(text).digest('hex') };
    return this.read;
  }
}

export const LEDGER_SCRIPTS: ReadonlyMap<string, LuaScript> = new Map(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.lua') && dirname(path) !== INCLUDES)
    .map((path) => [basename(path, '.lua'), new ScriptFile(basename(path, '.lua'), path)]),
);

/** A function at the top level, or what stands between two of them (then without a name). */
type Piece = { readonly name: string | null; readonly text: string; readonly words: ReadonlySet<string> };

/** Fragments that are no files: each is made from a table that TypeScript uses as well. */
const MADE: Readonly<Record<string, () => string>> = {
  'record-fields': recordFieldsLua,
  'pace-constants': paceConstantsLua,
};

/** Many scripts share a fragment; it is read once. */
const included = new Map<string, readonly Piece[]>();

function fragment(name: string): readonly Piece[] {
  const text = () => MADE[name]?.() ?? read(join(INCLUDES, `${name}.lua`));
  const pieces = included.get(name) ?? piecesOf(text());
  included.set(name, pieces);
  return pieces;
}

function read(path: string): string {
  return readFileSync(join(folder, path), 'utf8');
}

/** A script or fragment without its comments, its includes in their places. */
function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let name: string | null = null;
  let lines: string[] = [];
  const endPiece = () => {
    const piece = `${lines.join('\n')}\n`;
    if (lines.length > 0) pieces.push({ name, text: piece, words: new Set(piece.match(WORDS)) });
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
    name = begun ?? name;
    if (line !== '') lines.push(line);
    if (name !== null && FUNCTION_END.test(line)) endPiece();
  }
  endPiece();
  return pieces;
}

/**
 * A fragment serves many scripts, and each script needs some of its functions. Every call of a script makes all its
 * functions anew, and a new store compiles them all: without the unused ones the scripts are a third as long.
 */
function withoutUnused(pieces: readonly Piece[]): string {
  const unused = new Set(pieces.flatMap(({ name }) => name ?? []));
  const todo = pieces.filter(({ name }) => name === null);
  for (const { words } of todo)
    for (const name of unused)
      if (words.has(name)) {
        unused.delete(name);
        todo.push(...pieces.filter((piece) => piece.name === name));
      }
  return pieces
    .filter(({ name }) => name === null || !unused.has(name))
    .map(({ text }) => text)
    .join('');
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
