import { randomUUID } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode, messageOf } from '../../core/errors/error.js';

/** One check of `almoner doctor`. It returns a finding as its result and never throws for it. */
export type Check = { readonly name: string; run(): Promise<CheckResult> };

export type CheckResult =
  | { readonly state: 'ok'; readonly message: string }
  | { readonly state: 'warning' | 'failed'; readonly message: string; readonly remedy: string };

export const ok = (message: string): CheckResult => ({ state: 'ok', message });
const found =
  (state: 'warning' | 'failed') =>
  (message: string, remedy: string): CheckResult => ({ state, message, remedy });
export const warning = found('warning');
export const failed = found('failed');

const MAJOR = 20;
const MINOR = 19;

/** Checks that Node is recent enough. */
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

/**
 * Checks whether a folder can be written to, or be made. It writes a probe: permission bits do not tell of a
 * read-only or full disk, and do not bind root. `setting` is the variable that names another folder. It is null for
 * the data folder, because another data folder would be an empty ledger.
 */
export function folderWritable(what: string, folder: string, setting: string | null): Check {
  return {
    name: `${what} folder`,
    async run() {
      const instead =
        setting === null
          ? 'free space on its disk. Do not name another folder instead: an empty one knows nothing of what was paid.'
          : `choose another folder with ${setting}.`;
      const remedy = `Make ${folder} writable for this user, or ${instead}`;
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

/** The folder itself, or its nearest parent that exists. */
async function nearestExisting(folder: string): Promise<string> {
  try {
    await stat(folder);
    return folder;
  } catch (error) {
    const parent = dirname(folder);
    if (!hasCode(error, 'ENOENT') || parent === folder) throw error;
    return nearestExisting(parent);
  }
}
