import type { Certainty } from './profile.js';
import type { BatchState } from './states.js';

/** How a batch and its realm stand at one moment: all that is needed to say which orders wait, and for what. */
export type OpenState = 'planned' | 'sending' | 'unknown' | 'doubt';

/** Orders of one state. `indexes` null: all of that state that stand under no other cause. */
export type Group = {
  readonly state: OpenState;
  readonly orders: number;
  readonly tokens: bigint;
  readonly indexes: readonly number[] | null;
};

/** A registered sending process, as far as can be told from here. */
export type Sign = {
  readonly session: string;
  readonly kind: string;
  readonly pid: number;
  readonly machine: string;
  readonly life: 'alive' | 'dead' | 'elsewhere';
  /** The store's time of its last heartbeat, or of its registration where none was noted. */
  readonly seenMs: number;
  readonly beats: boolean;
};

export type RealmStanding = {
  readonly name: string;
  /** The store's time. */
  readonly nowMs: number;
  readonly signs: readonly Sign[];
  /** When the last session left in order; 0: never. */
  readonly leftMs: number;
  /** When the realm was halted or disarmed, where it is. */
  readonly haltedMs: number | null;
  /** The store was restarted, and the journals are being merged. */
  readonly recovering: boolean;
  readonly breaker: { readonly sinceMs: number; readonly haltsAtMs: number | null } | null;
  /** The realm asked to wait (Retry-After). */
  readonly hold: { readonly sinceMs: number; readonly untilMs: number } | null;
};

export type BatchStanding = {
  readonly batch: string;
  readonly state: BatchState;
  readonly reason: { readonly code: string; readonly message: string; readonly next: string } | null;
  /** The session whose run it is; empty for a batch of the workers. */
  readonly owner: string;
  readonly certainty: Certainty;
  readonly inOrder: boolean;
  /** When it was made, begun, and paused or halted last; 0: never. */
  readonly createdMs: number;
  readonly startedMs: number;
  readonly stoodMs: number;
  /** Journals know payments of it that are not put back yet. */
  readonly parked: boolean;
  readonly planned: Group;
  readonly unknown: Group & { readonly sinceMs: number; readonly untilMs: number | null };
  readonly doubt: Group & { readonly sinceMs: number };
  readonly sending: readonly (Group & { readonly session: string; readonly sinceMs: number })[];
  /** Planned orders that wait for their next attempt. */
  readonly retry: Group & { readonly sinceMs: number; readonly untilMs: number };
  /** Planned orders that wait for members which an order that stands still holds. */
  readonly held: Group & {
    readonly holder: string;
    readonly sinceMs: number;
    readonly untilMs: number | null;
  };
};
