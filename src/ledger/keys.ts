import { createHash } from 'node:crypto';
import type { RealmIdentity } from '../core/profile.js';

/**
 * Names of the ledger's keys. All keys of one realm carry one hash tag, so that a script may touch any of
 * them on a Redis Cluster. Inside a realm, batches go by a short number.
 */
export const REALMS_KEY = 'almoner:realms';

/** Orders to a record hash: within Redis' default for the compact encoding. The scripts know it too. */
export const BLOCK_ORDERS = 128;
/** Rows to a compressed plan block; a multiple of BLOCK_ORDERS. */
export const PLAN_BLOCK_ROWS = 256;

export function ledgerId(identity: RealmIdentity): string {
  return createHash('sha256').update(`${identity.baseUrl}\n${identity.realmId}`).digest('hex').slice(0, 12);
}

/** Lists of a realm's batches: what each holds stands in includes/batches.lua. */
export const BATCH_LISTS = [
  'ids',
  'importing',
  'open',
  'feed',
  'busy',
  'ended',
  'archived',
  'dead',
  'aside',
  'doubts',
  'sealed',
  'again',
  'asks',
  'recovered',
  'purging',
  'changed',
] as const;

/** The numbers of the batches that wait for a person after a rollback. */
export function unresumedKey({ keyPrefix }: { readonly keyPrefix: string }): string {
  return `${keyPrefix}:unresumed`;
}

/** What is kept of a realm's rules. */
export function rulesKey({ keyPrefix }: { readonly keyPrefix: string }, what: string): string {
  return `${keyPrefix}:rules:${what}`;
}

export function batchKeys(realm: string, no: string) {
  const batch = `${realm}:b:${no}`;
  return {
    meta: batch,
    counters: `${batch}:n`,
    attention: `${batch}:a`,
    due: `${batch}:due`,
    waiting: `${batch}:waiting`,
    holding: `${batch}:holding`,
    accounts: `${batch}:accounts`,
    generations: `${batch}:g`,
    audit: `${batch}:log`,
    latency: `${batch}:lat`,
    run: `${batch}:run`,
    /** One word of each row's content: which blocks may hold a row like this one (see planning/paid-before/repeats). */
    sketch: `${batch}:h`,
    /** Orders that were over and are paid, or may be, after all, with the realm's seals at that time. */
    again: `${batch}:again`,
    /** Of a recovered batch: its orders by index, and their members (see includes/recovered.lua). */
    recoveredRows: `${batch}:rows`,
    recoveredMembers: `${batch}:members`,
    /** Dead letters for which an approval of a retry was asked, and those that have one (see includes/approvals.lua). */
    askedRetries: `${batch}:retry`,
    approvedRetries: `${batch}:retries`,
    /** Who put dead letters back to work, and when orders left that one person pays alone (see includes/gate.lua). */
    retriedBy: `${batch}:retriedBy`,
    alone: `${batch}:alone`,
    plan: (block: number) => `${batch}:p:${block}`,
    records: (block: number) => `${batch}:o:${block}`,
    details: (index: number) => `${batch}:x:${index}`,
    /** Nonces of attempts of which nobody could say what became of them. */
    attempts: (index: number) => `${batch}:y:${index}`,
  };
}

/** Running totals: see includes/totals.lua. */
export function totalsKeys(realm: string) {
  return {
    index: `${realm}:sums`,
    sum: (period: string, currency: string) => `${realm}:sum:${period}:${currency}`,
    by: (kind: string, period: string, currency: string) => `${realm}:by:${kind}:${period}:${currency}`,
    work: (period: string) => `${realm}:work:${period}`,
  };
}
