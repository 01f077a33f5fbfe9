import type { OutcomeKind } from './outcome.js';

/** How an unknown outcome is resolved. */
export const CERTAINTIES = ['idempotent', 'readback', 'manual'] as const;
export type Certainty = (typeof CERTAINTIES)[number];

/** Requests allowed in a window; reads and writes both count. */
export type Rate = { readonly requests: number; readonly windowMs: number };

export type Caps = {
  readonly maxTokensPerOrder: number | null;
  readonly maxTokensPerBatch: number | null;
  readonly maxTokensPerDay: number | null;
};

/** Everything that is known of one realm but its key, which is read where and when it is used. */
export type RealmProfile = {
  readonly name: string;
  /** Origin and path prefix without `/api/v4` and without a trailing slash; `embedded` has its own. */
  readonly baseUrl: string;
  readonly realmId: string;
  /** A run on the embedded realm service; screens, JSON and reports say REHEARSAL. */
  readonly rehearsal: boolean;
  readonly key: KeySource;
  readonly authScheme: string;
  readonly currency: string | null;
  /** Where the balance stands in a member record, as a dotted path; null: the usual places are tried. */
  readonly balancePath: string | null;
  readonly recipientAs: 'number' | 'string';
  readonly certainty: Certainty;
  /** null: no limit. */
  readonly rate: Rate | null;
  /** Requests of the rate that almoner leaves for other tools. */
  readonly rateReserve: number;
  readonly timeouts: {
    readonly connectMs: number;
    readonly tlsMs: number;
    readonly responseMs: number;
    readonly totalMs: number;
  };
  readonly attempts: { readonly max: number; readonly backoffMs: number; readonly backoffMaxMs: number };
  /** A status that this realm uses in its own way. Printed in every report. */
  readonly statusOverrides: Readonly<Record<string, OutcomeKind>>;
  readonly caps: Caps;
  readonly wallets: { readonly method: 'GET' | 'POST'; readonly chunk: number };
  readonly settleMs: number;
  readonly keyLifetimeMs: number;
};

/** Where a realm's key is. The key itself never stands in a profile, a log, a job, Redis or a report. */
export type KeySource =
  | { readonly from: 'env'; readonly name: string }
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 'embedded' };

/** The identity of a realm: batches, references and books are kept apart by it. */
export type RealmIdentity = Pick<RealmProfile, 'baseUrl' | 'realmId'>;
