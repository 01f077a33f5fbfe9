import { allBooks } from '../../ledger/books.js';
import { liveness } from '../../ledger/liveness.js';
import { listSessions } from '../../ledger/sessions.js';
import type { App } from '../app.js';

/** Worker processes that are not proven dead, over all realms of the store. */
export async function countWorkers(app: App): Promise<number> {
  const alive = new Set<string>();
  for (const books of await allBooks(app.caller))
    for (const entry of await listSessions(books))
      if (entry.kind === 'worker' && (await liveness(entry)) !== 'dead') alive.add(entry.id);
  return alive.size;
}
