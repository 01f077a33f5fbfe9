import type { Logger } from 'pino';
import type { RealmProfile } from '../core/profile.js';
import type { Waiting } from '../core/waiting.js';
import type { BatchRef, BatchView, Reason, ScriptClient } from '../ledger/index.js';
import type { QueueConnection } from '../queue/queues.js';
import type { PlanReply, WorkerRow } from './api/index.js';
import type { By, OrderPlace } from './by.js';
import type { RuleDeps } from './rule-deps.js';

/**
 * What the desk is given. It reads the ledger itself; everything that changes something or asks a realm is a
 * function handed in, the same one that the command line calls.
 */
export type DeskDeps = {
  readonly version: string;
  readonly logger: Logger;
  readonly scripts: ScriptClient;
  readonly store: { readonly embedded: boolean; readonly address: string };
  readonly connect: (use: string) => QueueConnection;
  readonly profiles: readonly RealmProfile[];
  readonly dataFolder: string;
  readonly reportsFolder: string;
  /** The built pages. */
  readonly webFolder: string;
  /** Where a batch stands still and the ledger does not say so. */
  readonly standsStill: (
    ref: BatchRef,
    view: BatchView & { readonly owner: string },
  ) => Promise<{ readonly state: 'paused' | 'halted'; readonly reason: Reason } | null>;
  /** What of each batch stands still, and for what. */
  readonly waiting: (
    batches: readonly { readonly ref: BatchRef; readonly view: BatchView & { readonly owner: string } }[],
  ) => Promise<readonly (readonly Waiting[])[]>;
  readonly processes: () => Promise<readonly WorkerRow[]>;
  readonly steer: (ref: BatchRef, verb: 'pause' | 'resume' | 'cancel', by: By) => Promise<void>;
  readonly writeReport: (ref: BatchRef) => Promise<void>;
  readonly undo: (ref: BatchRef, write: (text: string) => Promise<void>) => Promise<void>;
  readonly plan: (file: PlannableFile, by: By) => Promise<PlannedUpload>;
  readonly retryDead: Mend<By & { readonly newAddress: boolean }>;
  /** Throws where the realm of one of these was paid under another address, which nobody has said is meant. */
  readonly checkAddresses: (places: readonly OrderPlace[]) => Promise<void>;
  readonly discardDead: Mend<By>;
  readonly doubt: (place: OrderPlace, readNow: boolean) => Promise<DoubtEvidence>;
  readonly resolveDoubts: (
    places: readonly OrderPlace[],
    decision: 'paid' | 'unpaid',
    by: By & { readonly why: string },
    onProgress: (done: number) => void,
  ) => Promise<Mended>;
  /** Throws where the request of one of these may still arrive: a person confirms that before saying unpaid. */
  readonly checkArriving: (places: readonly OrderPlace[]) => Promise<void>;
  readonly rules: RuleDeps | null;
};

export type Mended = {
  readonly taken: number;
  readonly refused: readonly { readonly order: string; readonly why: string }[];
};

export type Mend<Mender extends By> = (
  places: readonly OrderPlace[],
  by: Mender,
  onProgress: (done: number) => void,
) => Promise<Mended>;

export type PlannableFile = {
  readonly path: string;
  /** As the person's computer calls it. */
  readonly name: string;
  readonly realm: string | undefined;
  readonly skipInvalid: boolean;
  readonly map: readonly string[];
  readonly again: string | null;
  readonly newAddress: boolean;
  readonly newRowsOnly: boolean;
};

/** A plan that waits for its confirmation. `close` removes what it keeps on disk. */
export type PlannedUpload = {
  readonly document: PlanReply;
  /**
   * Equal where the same rows would be paid, the same ones were paid before, at the same earlier addresses, and a batch
   * that these orders are already stands still for the same reason, or does not.
   */
  readonly verdict: string;
  writeFaults(path: string): void;
  enqueue(options: { readonly inOrder: boolean }): Promise<{ ref: BatchRef; existing: boolean }>;
  close(): void;
};

export type DoubtEvidence = {
  readonly sides: readonly {
    readonly member: string;
    readonly role: 'member' | 'recipient';
    readonly lastSeen: string | null;
    readonly ifPaid: string | null;
    readonly ifUnpaid: string | null;
    readonly whenDoubtArose: string | null;
    readonly now: string | null;
  }[];
  /** Order ids. */
  readonly later: readonly string[];
  readonly key: string | null;
  readonly requestId: string | null;
  readonly sentAt: number | null;
  readonly decisions: readonly { readonly decision: 'paid' | 'unpaid'; readonly does: string }[];
};
