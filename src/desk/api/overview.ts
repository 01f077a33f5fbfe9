import type { Certainty, Rate } from '../../core/profile.js';
import type { Reason } from '../../ledger/index.js';
import type { BatchReply, BatchSummary } from './batches.js';
import type { TaskReply } from './work.js';

/** The front page and what keeps it live. */

export type RealmCard = {
  readonly realm: string;
  readonly realmId: string;
  readonly baseUrl: string;
  readonly rehearsal: boolean;
  /** False for realms that are in the books but no longer in the configuration: they can only be looked at. */
  readonly configured: boolean;
  readonly certainty: Certainty | null;
  readonly currency: string | null;
  readonly halt: Reason | null;
  readonly breakerSince: string | null;
  /** While not armed nothing is sent: the store was restarted or rolled back. Null: nothing was ever sent. */
  readonly fence: { readonly armed: boolean; readonly reason: Reason | null } | null;
  readonly pace: {
    /** What holds now: the configured rate, or a lower one that the realm's answers taught. */
    readonly allowed: Rate | null;
    readonly configured: Rate | null;
    readonly learntBy: 'headers' | 'refusals' | null;
    /** Requests a window that somebody else makes on the same realm. */
    readonly others: number;
    /** How long the whole realm still holds back (Retry-After). */
    readonly holdSeconds: number;
    /** Requests that left within the last window (a minute where there is no limit). */
    readonly used: number;
    /** Requests per slice, oldest first, up to ten minutes: for the chart. */
    readonly recent: {
      readonly sliceMs: number;
      readonly endsAt: number;
      readonly requests: readonly number[];
    };
  };
  /** Orders that wait for a worker, and jobs now in the realm's queue (the window). */
  readonly waiting: number;
  readonly queued: number;
  readonly dead: number;
  readonly doubts: number;
  readonly oldestUnsettledAt: string | null;
};

export type Overview = {
  readonly at: string;
  readonly store: {
    readonly up: boolean;
    readonly embedded: boolean;
    readonly address: string;
    readonly latencyMs: number | null;
    readonly usedBytes: number | null;
    readonly version: string | null;
  };
  readonly workers: { readonly alive: number; readonly processes: readonly WorkerRow[] };
  /** True when orders wait and no process is there to send them. */
  readonly noWorker: boolean;
  readonly realms: readonly RealmCard[];
  /** All that are not over, then the newest that are: at most 50. */
  readonly batches: readonly BatchSummary[];
  readonly tasks: readonly TaskReply[];
};
export type WorkerRow = {
  readonly session: string;
  readonly kind: string;
  readonly machine: string;
  /** `silent`: it gives no sign, and whether it lives is not known. */
  readonly state: 'alive' | 'dead' | 'elsewhere' | 'silent';
  readonly realms: readonly string[];
};

/**
 * `/api/events`: at once and then whenever something changed, at most once a second. A comment line every
 * 15 seconds keeps the line open. After a break the browser connects again and gets the whole picture anew.
 */
export type LiveEvents = {
  readonly overview: Overview;
  /** Only with ?batch=B. */
  readonly batch: BatchReply;
  /** The session is over: show the login form. */
  readonly bye: { readonly why: string };
};

export type FindReply = {
  readonly found: readonly {
    readonly kind: 'batch' | 'order' | 'member';
    readonly id: string;
    readonly note: string;
  }[];
};
