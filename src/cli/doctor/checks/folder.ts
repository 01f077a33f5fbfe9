import { randomUUID } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../../core/errors/error.js';
import { type Check, failed, ok } from '../check.js';

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
