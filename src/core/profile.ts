import type { OutcomeKind } from './classify.js';
import type { Requirement } from './people.js';
import type { QuietHours } from './quiet-hours.js';

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
  /** Null: the realm's own. */
  readonly currency: string | null;
  /** Others that a batch may be paid in, where it is chosen for it. */
  readonly currencies: readonly string[];
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
  /** When a second person has to say go. */
  readonly approval: Requirement;
  /** By whose wall its times are written and shown. */
  readonly timezone: string;
  /** What the columns of its files are called, by their meaning. */
  readonly columns: Readonly<Record<string, string>>;
  readonly quietHours: QuietHours | null;
  readonly wallets: { readonly method: 'GET' | 'POST'; readonly chunk: number };
  readonly settleMs: number;
  /** Whether first sends wait for a person once the store was found to have forgotten something. */
  readonly afterRollback: AfterRollback;
  readonly keyLifetimeMs: number;
};

export const AFTER_ROLLBACK = ['wait', 'continue'] as const;
export type AfterRollback = (typeof AFTER_ROLLBACK)[number];

/** Where a realm's key is. The key itself never stands in a profile, a log, a job, Redis or a report. */
export type KeySource =
  | { readonly from: 'env'; readonly name: string }
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 'embedded' };

/** The identity of a realm: batches, references and books are kept apart by it. */
export type RealmIdentity = Pick<RealmProfile, 'baseUrl' | 'realmId'>;

/**
 * The one spelling of a pace: `24/min`, `10/s`, `500/h`, `60/6s`, or `none`. A bare `m` is refused: half of
 * its readers take it for minutes and the other half for milliseconds.
 */

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 };
const RATE = /^([0-9]{1,7})\s*\/\s*([0-9]{1,8})?\s*(ms|s|min|h)$/;

export const RATE_REQUESTS_MAX = 1_000_000;
export const RATE_WINDOW_MS_MAX = 24 * 3_600_000;
export const RATE_EXPECTED = 'a rate such as 24/min, 10/s, 500/h, 60/6s, or none';

type ParsedRate = { readonly rate: Rate | null } | { readonly fault: string };

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

/** Reads back as the same rate; whole units are printed without their count. */
export function formatRate(rate: Rate | null): string {
  if (rate === null) return 'none';
  for (const unit of ['h', 'min', 's', 'ms']) {
    const count = rate.windowMs / (UNIT_MS[unit] ?? 1);
    if (Number.isInteger(count)) return `${rate.requests}/${count === 1 ? '' : count}${unit}`;
  }
  return `${rate.requests}/${rate.windowMs}ms`;
}
