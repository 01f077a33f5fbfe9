import { readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../core/errors/error.js';
import type { Manifest } from '../ledger/index.js';
import { isoTime } from '../words/spelling.js';
import { Summary } from './summary.js';

const RunOfReport = Summary.pick({ batch: true }).extend({
  manifest: Summary.shape.manifest.pick({ realmId: true, baseUrl: true, createdAt: true }),
});

/**
 * Keeps the report of an earlier run with the same batch id. A restored store, or another ledger, can produce the
 * same id again. The earlier report is then the only trace of what that run paid, so it moves to `<batch>@<time of
 * that batch>` before the new report replaces it. A report of the same run is simply replaced.
 */
export async function keepEarlierReport(root: string, manifest: Manifest): Promise<void> {
  const folder = join(root, manifest.batch);
  const text = await readFile(join(folder, 'summary.json'), 'utf8').catch(() => null);
  const earlier = text === null ? null : RunOfReport.safeParse(parsed(text)).data?.manifest;
  if (earlier == null) return;
  const { realmId, baseUrl, createdAt } = manifest;
  if (earlier.createdAt === isoTime(createdAt) && earlier.realmId === realmId && earlier.baseUrl === baseUrl)
    return;
  // `@` occurs in no batch id.
  const name = `${manifest.batch}@${earlier.createdAt.replaceAll(':', '-')}`;
  await rename(folder, await freeName(root, name)).catch((error: unknown) => {
    // Another process writes a report of the same batch and has already moved the folder.
    if (!hasCode(error, 'ENOENT')) throw error;
  });
}

/** Finds a folder name that is not taken. */
async function freeName(root: string, name: string): Promise<string> {
  for (let number = 1; ; number++) {
    const path = join(root, number === 1 ? name : `${name}-${number}`);
    const isThere = await stat(path).then(
      () => true,
      () => false,
    );
    if (!isThere) return path;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
