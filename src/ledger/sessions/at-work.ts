import { join } from 'node:path';
import { Here } from '../here/liveness.js';
import { listJournals, readHead } from '../journal/folder.js';
import { entryOf, JOURNAL_FOLDER } from '../read/session-list.js';

/** The sending processes that live on this machine and keep their journals in the data folder, whatever store they use. */
export async function sessionsAtWork(
  dataFolder: string,
): Promise<{ readonly session: string; readonly kind: string; readonly pid: number }[]> {
  const here = new Here(dataFolder);
  const folder = join(dataFolder, JOURNAL_FOLDER);
  const found = await Promise.all(
    (await listJournals(folder)).map(async (files) => {
      const head = await readHead(files);
      if (head === undefined || (await here.liveness(entryOf(head, folder))) !== 'alive') return [];
      return [{ session: head.session, kind: head.kind, pid: head.pid }];
    }),
  );
  return found.flat();
}
