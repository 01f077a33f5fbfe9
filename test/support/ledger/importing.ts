import { BY_NOBODY } from '../../../src/ledger/read/gate.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { newNonce } from '../../../src/ledger/script-client.js';
import type { ImportOptions } from '../../../src/planning/store-plan.js';
import { testProfile } from './realm-profile.js';

/** Default import options for tests that do not depend on them. */
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
