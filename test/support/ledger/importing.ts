import { BY_NOBODY } from '../../../src/ledger/read/gate.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { newNonce } from '../../../src/ledger/script-client.js';
import type { ImportOptions } from '../../../src/planning/store-plan.js';
import { testProfile } from './realm-profile.js';

/** How a plan is imported where a test does not care: for the workers, by an importer of its own. */
export function importing(ledger: RealmLedger, changes: Partial<ImportOptions> = {}): ImportOptions {
  return {
    ledger,
    profile: testProfile(),
    batchId: null,
    mode: 'import',
    owner: '',
    inOrder: false,
    expectedMs: 1_000,
    who: 'ada',
    prepared: BY_NOBODY,
    importer: newNonce(),
    now: Date.now(),
    onProgress: () => {},
    ...changes,
  };
}
