import type { AuditEntry } from '../../ledger/index.js';
import type { BatchSummary, OrderRow } from './batches.js';

/** Requests and replies about dead letters, doubts, members, imports, rules, tasks and the audit. */

export type DeadSelection = {
  /** Either these very orders, or all that meet the filter; an empty filter is refused. */
  readonly orders?: readonly string[] | undefined;
  readonly realm?: string | undefined;
  readonly batch?: string | undefined;
  readonly class?: string | undefined;
  readonly message?: string | undefined;
};
export type SelectionCount = { readonly count: number; readonly tokens: string };
/** `expect` is the count the person saw; when it is another one by now, 409 and nothing was done. */
export type RetryRequest = DeadSelection & {
  readonly expect: number;
  readonly reason?: string | undefined;
  /** Goes on where the same realm id was paid under another address; without it that answers 422. */
  readonly newAddress?: boolean;
};
export type DiscardRequest = DeadSelection & { readonly expect: number; readonly reason: string };
export type DeadGroups = {
  readonly groups: readonly {
    readonly class: string | null;
    readonly message: string;
    readonly state: 'refused' | 'exhausted';
    readonly count: number;
    readonly tokens: string;
    readonly batches: readonly string[];
    readonly realms: readonly string[];
    readonly example: OrderRow;
  }[];
  /** Dead letters looked at, and all there are; fewer were looked at when there are more than 100,000. */
  readonly scanned: number;
  readonly of: number;
};

export type DoubtReply = {
  readonly order: OrderRow;
  readonly sides: readonly {
    readonly member: string;
    readonly role: 'member' | 'recipient';
    readonly lastSeen: string | null;
    readonly ifPaid: string | null;
    readonly ifUnpaid: string | null;
    readonly whenDoubtArose: string | null;
    /** Only with ?now=true. */
    readonly now: string | null;
  }[];
  /** Orders that touched the same members afterwards: they blur the balances. */
  readonly later: readonly OrderRow[];
  readonly key: string | null;
  readonly requestId: string | null;
  readonly sentAt: string | null;
  readonly decisions: readonly { readonly decision: 'paid' | 'unpaid'; readonly does: string }[];
};
export type ResolveRequest = {
  readonly orders?: readonly string[];
  readonly batch?: string;
  readonly decision: 'paid' | 'unpaid';
  readonly reason: string;
  readonly expect: number;
  /**
   * The person knows that requests of these may still arrive. Without it, `unpaid` of an order younger than the
   * settle time answers 409 ALM_BATCH_MAY_ARRIVE, naming each and until when, and nothing was done.
   */
  readonly mayArrive?: boolean;
};

export type HistoryPage = {
  readonly member: string;
  readonly orders: readonly OrderRow[];
  readonly next: string | null;
  readonly scanned: number;
  readonly of: number;
};

export type UploadReply = { readonly upload: string; readonly name: string; readonly bytes: number };
export type PlanRequest = {
  readonly realm?: string;
  readonly skipInvalid?: boolean;
  /** `tokens=Punkte` */
  readonly map?: readonly string[];
  readonly again?: string;
  /** Goes on where the same realm id was paid under another address. */
  readonly newAddress?: boolean;
  /** Rows that were paid before are left out; not together with `again`. */
  readonly newRowsOnly?: boolean;
};
export type FindingReply = {
  readonly line: number;
  readonly column: string | null;
  readonly code: string;
  readonly message: string;
};
/** The document of `almoner plan --json`. */
export type PlanReply = {
  readonly batch: string | null;
  readonly realm: string;
  readonly rehearsal: boolean;
  readonly baseUrl: string;
  readonly currency: string | null;
  readonly certainty: string;
  readonly existing: boolean;
  readonly existingState: string | null;
  readonly source: string;
  readonly rows: number;
  readonly orders: Readonly<Record<'credit' | 'debit' | 'transfer', number>>;
  readonly tokens: Readonly<Record<'credit' | 'debit' | 'transfer', string>>;
  readonly members: number;
  readonly duplicates: number;
  readonly duplicatesOf: readonly string[];
  /** Batches of the last 30 days that hold rows of this file which have no reference. */
  readonly looksPaid: readonly { readonly batch: string; readonly rows: number; readonly lines: string }[];
  readonly invalid: number;
  /** The first thousand; all of them at /api/uploads/:upload/faults. */
  readonly faults: readonly FindingReply[];
  readonly faultCount: number;
  readonly warnings: readonly FindingReply[];
  readonly requests: number;
  readonly seconds: number;
  readonly payable: { readonly orders: number; readonly tokens: string };
  readonly books: {
    readonly batches: number;
    readonly paid: number;
    readonly tokens: string;
    readonly lastAt: number | null;
  };
  readonly dayLeft: string | null;
  readonly netEffects: readonly { readonly member: string; readonly rows: number; readonly net: string }[];
};
/** `rows` and `tokens` repeat what the person confirmed: PlanReply.rows and PlanReply.payable.tokens. */
export type StartRequest = PlanRequest & {
  readonly rows: number;
  readonly tokens: string;
  readonly inOrder?: boolean;
};
export type StartReply = {
  readonly summary: BatchSummary;
  readonly existing: boolean;
  /** Workers alive; 0 means that nothing is sent until one is started. */
  readonly workers: number;
};

/** Something that takes longer than a request: started by a change, looked at until it is over. */
export type TaskReply = {
  readonly task: string;
  readonly what: string;
  readonly who: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly total: number | null;
  readonly done: number;
  /** Orders that were left as they were, with the reason; the first hundred. */
  readonly refused: readonly { readonly order: string; readonly why: string }[];
  readonly refusedCount: number;
  readonly error: { readonly code: string; readonly message: string; readonly next: string } | null;
  readonly result: { readonly batch: string | null; readonly plan: string | null };
  readonly startedAt: string;
  readonly endedAt: string | null;
};
export type TasksReply = { readonly tasks: readonly TaskReply[] };

export type RuleRow = {
  readonly rule: string;
  readonly file: string;
  readonly realm: string;
  readonly reason: string | null;
  readonly schedule: { readonly cron: string; readonly timeZone: string } | null;
  readonly nextRuns: readonly string[];
  /** `waits`: new or changed with a schedule, a person's go is missing. */
  readonly state: 'ready' | 'waits' | 'faulty';
  /** Where it waits: what the go would be for. */
  readonly text: { readonly content: string; readonly hash: string } | null;
  readonly faults: readonly string[];
  /** The last run, by the schedule or by hand, and how its batch stands. */
  readonly last: RuleLast | null;
  /** The last time the schedule came, and what became of it. */
  readonly lastScheduled: RuleLast | null;
};
export type RuleLast = {
  readonly run: string;
  readonly at: string;
  readonly result: string;
  readonly batch: string | null;
};
export type RulesReply = { readonly rules: readonly RuleRow[] };
export type RulePlanRequest = Readonly<Record<string, never>>;
export type RuleAward = {
  readonly member: string;
  readonly tokens: number | null;
  readonly awarded: boolean;
  readonly why: string;
};
export type RulePlanPage = {
  readonly plan: string;
  readonly rule: string;
  readonly realm: string;
  readonly at: string;
  readonly members: number;
  readonly awarded: number;
  readonly tokens: string;
  /** Why no batch can be made of it; empty when one can. */
  readonly stops: readonly string[];
  /** The rule's file is another one by now: the desk makes no batch of this plan. */
  readonly edited: boolean;
  readonly awards: readonly RuleAward[];
  readonly next: string | null;
};
/** With `plan`: exactly that plan, and `members` and `tokens` repeat what the person confirmed. */
export type RuleRunRequest = {
  readonly plan: string;
  readonly members: number;
  readonly tokens: string;
  readonly reason?: string;
};
/** `hash` is that of the text which the person saw. */
export type RuleApproveRequest = { readonly hash: string; readonly reason?: string };
export type ExplainReply = {
  readonly run: string;
  readonly rule: string;
  readonly member: string;
  readonly awarded: boolean;
  readonly tokens: number | null;
  readonly why: string;
  /** The facts frozen then, as JSON. */
  readonly facts: unknown;
};

export type AuditPage = {
  readonly entries: readonly (Omit<AuditEntry, 'at'> & {
    readonly at: string;
    readonly batch: string | null;
  })[];
  readonly next: string | null;
};
