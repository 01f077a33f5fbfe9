import { readFileSync, type Stats, statSync } from 'node:fs';
import { AlmonerError, messageOf } from '../../core/errors/error.js';
import type { KeySource } from '../../core/profile.js';
import { readStoreAddress } from '../redis/address.js';
import type { Config } from './model.js';

const KEY_BYTES_MAX = 16 * 1024;

/**
 * Reads a realm's key when it is used. A corrected or rotated key takes effect without a restart, and no
 * configuration keeps one. The caller registers the key with the logger's secrets.
 */
export function readKey(source: KeySource, env: NodeJS.ProcessEnv): string {
  switch (source.from) {
    case 'env':
      return usable(env[source.name] ?? '', `environment variable ${source.name}`);
    case 'file':
      return usable(readKeyFile(source.path), `file ${source.path}`);
    case 'embedded':
      throw new Error('the embedded realm service provides its own key; there is no key to read');
  }
}

/** Warns about a key file that other users of the machine may read; `almoner doctor` shows this. */
export function keyWarnings(source: KeySource): readonly string[] {
  if (source.from !== 'file' || process.platform === 'win32') return [];
  let stats: Stats;
  try {
    stats = statSync(source.path);
  } catch {
    return [];
  }
  if ((stats.mode & 0o077) === 0) return [];
  const mode = (stats.mode & 0o777).toString(8).padStart(3, '0');
  return [`key file ${source.path} can be read by others (mode ${mode}); run: chmod 600 ${source.path}`];
}

function readKeyFile(path: string): string {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw new Error('not a file');
    if (stats.size > KEY_BYTES_MAX) throw new Error(`larger than ${KEY_BYTES_MAX} bytes`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw missing(`the key file ${path} cannot be read: ${messageOf(error)}`, error);
  }
}

/**
 * Checks that a key fits into a header. A line end or another odd character means that the key is damaged or forged.
 */
function usable(text: string, place: string): string {
  const key = text.replace(/^\uFEFF/, '').trim();
  if (key === '') throw missing(`the ${place} holds no key`);
  if (!/^[\x21-\x7e]+$/.test(key))
    throw missing(`the ${place} holds blanks, line ends or odd characters inside the key`);
  return key;
}

function missing(what: string, cause?: unknown): AlmonerError {
  return new AlmonerError('ALM_CONFIG_KEY_MISSING', `No request was sent: ${what}.`, { cause });
}

/** All secrets that are known without reading a file. They are registered before the first line is logged. */
export function secretsOf(config: Config, env: NodeJS.ProcessEnv): readonly string[] {
  const sources = [
    ...config.profiles.map((profile) => profile.key),
    config.deadMan,
    config.token,
    ...config.notifications.flatMap((each) => [each.discord, each.webhook?.secret]),
  ];
  const fromEnvironment = sources.map((source) => (source?.from === 'env' ? env[source.name] : undefined));
  // The realm service takes its first key from this variable, even if no profile names it.
  return [...fromEnvironment, env.ALMONER_API_KEY, ...passwordsOf(config.redisUrl)]
    .map((secret) => secret?.trim() ?? '')
    .filter((secret) => secret !== '');
}

function passwordsOf(redisUrl: string | null): readonly string[] {
  const read = redisUrl === null ? undefined : readStoreAddress(redisUrl);
  if (read === undefined || !('address' in read)) return [];
  const { address } = read;
  const sentinel = address.form === 'sentinel' ? address.sentinelPassword : null;
  return [address.password, sentinel].filter((password) => password !== null);
}
