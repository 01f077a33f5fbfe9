import { readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { hasCode } from './disk-failure.js';

const FOREIGN_LEFTOVER_AGE_MS = 24 * 60 * 60 * 1000;
const SUFFIX = '.partial';

/** `.<batch>@<host>@<pid>@<nonce>.partial`: `@` occurs in no batch id, so that the parts stay apart. */
export function stagingName(batch: string, nonce: string): string {
  return `.${batch}@${host()}@${process.pid}@${nonce}${SUFFIX}`;
}

/**
 * Removes what killed processes left of this batch's reports. Another writer may be at work on the same
 * batch right now, so a folder goes only when its process is gone; the processes of another machine cannot
 * be asked, and theirs go after a day. A wrong guess costs one report that is written again, never money.
 */
export async function clearLeftovers(root: string, batch: string, now: number): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(`.${batch}@`) || !name.endsWith(SUFFIX)) continue;
    const [, owner = '', pid = ''] = name.split('@');
    const path = join(root, name);
    const abandoned = owner === host() ? !isAlive(Number(pid)) : await isOlder(path, now);
    if (abandoned) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

function host(): string {
  return hostname().replaceAll(/[^A-Za-z0-9.-]/g, '-');
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    return hasCode(error, 'EPERM');
  }
}

async function isOlder(path: string, now: number): Promise<boolean> {
  const entry = await stat(path).catch(() => undefined);
  return entry !== undefined && now - entry.mtimeMs > FOREIGN_LEFTOVER_AGE_MS;
}
