import { allLedgers } from '../../ledger/realm-ledger.js';
import { workersAtWork } from '../../ledger/signs.js';
import type { App } from '../../runtime/app.js';

/** Worker processes that are neither dead nor silent, over all realms of the store. */
export async function countWorkers(app: App): Promise<number> {
  const all = await allLedgers(app.scripts);
  return new Set((await Promise.all(all.map(workersAtWork))).flat()).size;
}
