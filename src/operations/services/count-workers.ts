import { allBooks } from '../../ledger/books.js';
import { workersAtWork } from '../../ledger/signs.js';
import type { App } from '../../runtime/app.js';

/** Worker processes that are neither dead nor silent, over all realms of the store. */
export async function countWorkers(app: App): Promise<number> {
  const all = await allBooks(app.caller);
  return new Set((await Promise.all(all.map(workersAtWork))).flat()).size;
}
