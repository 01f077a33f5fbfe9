import type { OutcomeKind } from './classify.js';
import type { Requirement } from './people.js';
import type { QuietHours } from './quiet-hours.js';

/** The ways to resolve an unknown outcome. */
export const CERTAINTIES = ['idempotent', 'readback', 'manual'] as const;
export type Certainty = (typeof CERTAINTIES)[number];

/** The number of requests allowed in a window; reads and writes both count. */
export type Rate = { readonly requests: number; readonly windowMs: number };

/** The realm's caps; null means no cap. */
export type Caps = {
  readonly maxTokensPerOrder: number | null;
  readonly maxTokensPerBatch: number | null;
  readonly maxTokensPerDay: number | null;
};

/** All settings of one realm except its key. The key is read only where it is used. */
export type RealmProfile = {
  readonly name: string;
  /**
   * Origin and path prefix, without `/api/v4` and without a trailing slash. The embedded realm has a URL of its own.
   */
  readonly baseUrl: string;
  readonly realmId: string;
  /** True for the embedded realm service. Screens, JSON and reports then say REHEARSAL. */
  readonly rehearsal: boolean;
  readonly key: KeySource;
  readonly authScheme: string;
  /** Null: the realm's own currency. */
  readonly currency: string | null;
  /** Other currencies that a person can choose for a batch. */
  readonly currencies: readonly string[];
  /** Dotted path to the balance in a member record. Null: the client tries the usual places. */
  readonly balancePath: string | null;
  readonly recipientAs: 'number' | 'string';
  readonly certainty: Certainty;
  /** Null: no limit. */
  readonly rate: Rate | null;
  /** Requests of the rate that almoner leaves to other tools. */
  readonly rateReserve: number;
  readonly timeouts: {
    readonly connectMs: number;
    readonly tlsMs: number;
    readonly responseMs: number;
    readonly totalMs: number;
  };
  readonly attempts: { readonly max: number; readonly backoffMs: number; readonly backoffMaxMs: number };
  /** Statuses that this realm uses with another meaning. Every report prints them. */
  readonly statusOverrides: Readonly<Record<string, OutcomeKind>>;
  readonly caps: Caps;
  /** Above these limits a second person must approve. */
  readonly approval: Requirement;
  /** The time zone in which times are read and shown. */
  readonly timezone: string;
  /** The names of the columns in this realm's files, by their meaning. */
  readonly columns: Readonly<Record<string, string>>;
  readonly quietHours: QuietHours | null;
  readonly wallets: { readonly method: 'GET' | 'POST'; readonly chunk: number };
  readonly settleMs: number;
  /** Whether first sends wait for a person after a rollback of the store was detected. */
  readonly afterRollback: AfterRollback;
  readonly keyLifetimeMs: number;
};

export const AFTER_ROLLBACK = ['wait', 'continue'] as const;
export type AfterRollback = (typeof AFTER_ROLLBACK)[number];

/** Where a realm's key comes from. The key itself is never in a profile, log, job, report or Redis. */
export type KeySource =
  | { readonly from: 'env'; readonly name: string }
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 'embedded' };

/** The identity of a realm. Each identity has its own batches, references and ledger. */
export type RealmIdentity = Pick<RealmProfile, 'baseUrl' | 'realmId'>;

/**
 * The only spelling of a rate: `24/min`, `10/s`, `500/h`, `60/6s`, or `none`. A bare `m` is refused: half of its
 * readers take it for minutes and the other half for milliseconds.
 */

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 };
const RATE = /^([0-9]{1,7})\s*\/\s*([0-9]{1,8})?\s*(ms|s|min|h)$/;

export const RATE_REQUESTS_MAX = 1_000_000;
export const RATE_WINDOW_MS_MAX = 24 * 3_600_000;
export const RATE_EXPECTED = 'a rate such as 24/min, 10/s, 500/h, 60/6s, or none';

type ParsedRate = { readonly rate: Rate | null } | { readonly fault: string };

/** Reads a rate, or returns the fault with the expected form. */
export function parseRate(text: string): ParsedRate {
  const trimmed = text.trim();
  if (trimmed === 'none') return { rate: null };
  const match = RATE.exec(trimmed);
  const unitMs = UNIT_MS[match?.[3] ?? ''];
  if (match === null || unitMs === undefined) return { fault: `expected ${RATE_EXPECTED}` };
  const requests = Number(match[1]);
  const windowMs = Number(match[2] ?? 1) * unitMs;
  if (requests < 1 || requests > RATE_REQUESTS_MAX)
    return { fault: `expected 1 to ${RATE_REQUESTS_MAX} requests in a rate; write none for no limit` };
  if (windowMs < 1 || windowMs > RATE_WINDOW_MS_MAX)
    return { fault: 'expected a rate with a window of 1ms to 24h' };
  return { rate: { requests, windowMs } };
}

/**
 * Writes a rate in a form that reads back as the same rate. A window of one whole unit is written without its count.
 */
export function formatRate(rate: Rate | null): string {
  if (rate === null) return 'none';
  for (const unit of ['h', 'min', 's', 'ms']) {
    const count = rate.windowMs / (UNIT_MS[unit] ?? 1);
    if (Number.isInteger(count)) return `${rate.requests}/${count === 1 ? '' : count}${unit}`;
  }
  return `${rate.requests}/${rate.windowMs}ms`;
}
