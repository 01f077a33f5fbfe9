import type { Books } from '../../src/ledger/books.js';
import { newNonce } from '../../src/ledger/caller.js';
import type { ImportOptions } from '../../src/planning/store-plan.js';
import { testProfile } from './realm-profile.js';

/** How a plan is imported where a test does not care: for the workers, by an importer of its own. */
export function importing(books: Books, changes: Partial<ImportOptions> = {}): ImportOptions {
  return {
    books,
    profile: testProfile(),
    batchId: null,
    mode: 'import',
    owner: '',
    inOrder: false,
    expectedMs: 1_000,
    who: 'ada',
    importer: newNonce(),
    now: Date.now(),
    onProgress: () => {},
    ...changes,
  };
}
