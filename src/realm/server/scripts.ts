import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

/**
 * The moves of the realm service. Each is one Lua file, read once when this module loads and run by its
 * hash; `-- @include name` pulls in a fragment that several moves share.
 */
export type Script = { readonly name: string; readonly lua: string; readonly sha1: string };

function readScript(name: string): Script {
  const folder = new URL('./lua/', import.meta.url);
  const text = readFileSync(new URL(`${name}.lua`, folder), 'utf8');
  const lua = text.replaceAll(/^-- @include ([a-z-]+)$/gm, (_line, include) =>
    readFileSync(new URL(`includes/${include}.lua`, folder), 'utf8').trimEnd(),
  );
  return { name, lua, sha1: createHash('sha1').update(lua).digest('hex') };
}

export const CHANGE_BALANCE = readScript('change-balance-4');
export const TRANSFER = readScript('transfer-4');
export const ADMIT = readScript('admit-1');
export const PUT_MEMBERS = readScript('put-members-3');

/** NOSCRIPT is answered before anything has run, so sending the text then can never apply a move twice. */
export async function runScript(
  redis: Redis,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(script.sha1, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return await redis.eval(script.lua, keys.length, ...keys, ...args);
  }
}
