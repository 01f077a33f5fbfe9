import type { RealmProfile } from '../../../src/core/profile.js';

/** A configuration without realms, for waiting reasons that do not depend on a profile. */
export const NO_PROFILES: { readonly profiles: readonly RealmProfile[] } = { profiles: [] };

/** A profile for tests: short time-outs that a loaded machine still meets, and no pace. */
export function testProfile(changes: Partial<RealmProfile> = {}): RealmProfile {
  return {
    name: 'test',
    baseUrl: 'http://127.0.0.1:1',
    realmId: 'guild',
    rehearsal: false,
    key: { from: 'env', name: 'TEST_KEY' },
    authScheme: 'Bearer',
    currency: null,
    currencies: [],
    balancePath: null,
    recipientAs: 'number',
    certainty: 'manual',
    rate: null,
    rateReserve: 0,
    timeouts: { connectMs: 5_000, tlsMs: 5_000, responseMs: 10_000, totalMs: 15_000 },
    attempts: { max: 3, backoffMs: 1, backoffMaxMs: 5 },
    statusOverrides: {},
    approval: { overTokens: null, overRows: null },
    columns: {},
    timezone: 'UTC',
    quietHours: null,
    caps: { maxTokensPerOrder: null, maxTokensPerBatch: null, maxTokensPerDay: null },
    wallets: { method: 'GET', chunk: 50 },
    // Other tests cover the stop for a person after a rollback.
    afterRollback: 'continue',
    settleMs: 1_000,
    keyLifetimeMs: 60_000,
    ...changes,
  };
}

/** A pace that grants every request at once and ignores the outcomes. */
export const UNPACED = { take: async () => undefined };
