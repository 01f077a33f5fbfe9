import { randomUUID } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isLoopbackUrl } from '../../../core/base-url.js';
import { isAlmonerError, messageOf } from '../../../core/errors/error.js';
import type { RealmProfile } from '../../../core/profile.js';
import { keyWarnings, readKey } from '../../../runtime/config/key.js';
import { registerSecret } from '../../../runtime/redaction.js';
import { type Check, failed, ok, warning } from '../check.js';

/**
 * Whether a folder can be written to, or made where it does not exist yet. It is tried by writing: permission
 * bits say nothing about a read-only or full disk, and nothing at all to root.
 */
export function folderWritable(what: string, folder: string, setting: string): Check {
  return {
    name: `${what} folder`,
    async run() {
      const remedy = `Make ${folder} writable for this user, or choose another folder with ${setting}.`;
      try {
        const existing = await nearestExisting(folder);
        if (!(await stat(existing)).isDirectory()) return failed(`${existing} is not a folder`, remedy);
        const probe = join(existing, `.almoner-probe-${randomUUID()}`);
        await writeFile(probe, 'probe', { flag: 'wx' });
        await rm(probe);
        return ok(existing === folder ? `${folder} is writable` : `${folder} will be made when needed`);
      } catch (error) {
        return failed(`${folder} cannot be written to: ${messageOf(error)}`, remedy);
      }
    },
  };
}

async function nearestExisting(folder: string): Promise<string> {
  try {
    await stat(folder);
    return folder;
  } catch (error) {
    const parent = dirname(folder);
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!missing || parent === folder) throw error;
    return nearestExisting(parent);
  }
}

/** The key is where the profile says, and nobody else on this machine can read it. */
export function keyPlace(profile: RealmProfile, env: NodeJS.ProcessEnv): Check {
  return {
    name: `realm ${profile.name}: key`,
    async run() {
      if (profile.key.from === 'embedded') return ok('made by the embedded realm service');
      try {
        registerSecret(readKey(profile.key, env));
      } catch (error) {
        if (isAlmonerError(error)) return failed(error.message, error.next);
        throw error;
      }
      const [open] = keyWarnings(profile.key);
      return open === undefined
        ? ok('found')
        : warning(open, 'Take the rights of others away from the file.');
    },
  };
}

const MAJOR = 20;
const MINOR = 19;

export function nodeVersion(version: string): Check {
  return {
    name: 'Node version',
    async run() {
      const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
      if (major > MAJOR || (major === MAJOR && minor >= MINOR)) return ok(`Node ${version}`);
      return failed(
        `Node ${version} is too old`,
        `Install Node ${MAJOR}.${MINOR} or newer and run the command again.`,
      );
    },
  };
}

/** Plain http beyond this machine shows the key to everybody on the way. Some test realms have nothing else. */
export function transport(profile: RealmProfile): Check {
  return {
    name: `realm ${profile.name}: transport`,
    async run() {
      if (profile.rehearsal) return ok('the embedded realm service, on this machine only');
      if (profile.baseUrl.startsWith('https://')) return ok('https');
      if (isLoopbackUrl(profile.baseUrl)) return ok('http, on this machine only');
      return warning(
        `${profile.baseUrl} is plain http: the key travels readable`,
        'Use the https address of the realm.',
      );
    },
  };
}
