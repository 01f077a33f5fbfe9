import type { RealmProfile } from '../../../src/core/profile.js';

/** A place where no realm is configured: for tests of causes that no profile knows. */
export const NO_PROFILES: { readonly profiles: readonly RealmProfile[] } = { profiles: [] };

/** A profile for tests: short but not hasty time-outs, no pace. */
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
    // What waits for a person after a rollback has tests of its own.
    afterRollback: 'continue',
    settleMs: 1_000,
    keyLifetimeMs: 60_000,
    ...changes,
  };
}

/** A pace that lets every request leave at once and forgets what came of it. */
export const UNPACED = { take: async () => undefined };
