import { counted } from '../../core/counted.js';
import { askRealm, type BatchRef, batchFacts, type RealmLedger } from '../realm-ledger.js';
import { listBatches } from './batches.js';
import { readRecord } from './rows.js';
import type { BatchAudit, MisheldReference } from './verify-batch.js';
import { auditBatch } from './verify-batch.js';
import { listsText } from './verify-lists.js';
import { keysLike, type Unread } from './verify-read.js';
import { strayReferencesText } from './verify-references.js';
import { add, nonZero, sameEntries, shown } from './verify-sums.js';
import { totalsText } from './verify-totals.js';

/**
 * The auditor of a ledger. It shares nothing with the scripts that write: it reads plans and records, adds everything up
 * again and compares that with what the ledger claims. It only reads, and reads every batch, archives included.
 *
 * Workers may run meanwhile. A batch is compared only if it reads the same before and after its rows were read; one that
 * moved is read again. Sums over all batches are compared only if none of them moved from the first look to the last, and
 * a pass after the first reads only those batches again that moved. What moves at every look is named as not checked: a
 * difference is never concluded from two moments.
 */
export type LedgerAudit = {
  readonly batches: number;
  readonly orders: number;
  /** Each says what does not tie. None: the ledger ties. */
  readonly differences: readonly string[];
  /** What could not be compared, and why. */
  readonly unchecked: readonly string[];
};

const PASSES = 3;
const LOOKS_AT_A_BATCH = 3;

export type AuditOptions = {
  /** `here`: every archive has to be there, and one that is missing is a difference. Elsewhere it proves nothing. */
  readonly archives?: 'here' | 'on any machine';
  readonly onProgress?: (done: number, of: number) => void;
};

export async function verifyLedger(
  ledger: RealmLedger,
  { archives = 'on any machine', onProgress = () => {} }: AuditOptions = {},
): Promise<LedgerAudit> {
  const known = new Map<string, BatchAudit>();
  for (let pass = 1; ; pass++) {
    const before = await realmStamp(ledger);
    const unread = new Map<string, Unread & { readonly ref: BatchRef }>();
    const refs = await listBatches(ledger);
    const read: BatchAudit[] = [];
    for (const [done, ref] of refs.entries()) {
      const audit = await lookAt(ref, known.get(ref.no));
      if (audit !== null && 'unread' in audit) unread.set(ref.no, { ...audit, ref });
      else if (audit !== null) {
        known.set(ref.no, audit);
        read.push(audit);
      }
      onProgress(done + 1, refs.length);
    }
    const whole = unread.size === 0 ? await overAll(ledger, refs, read) : null;
    const isStill = (await realmStamp(ledger)) === before;
    if (!isStill && pass < PASSES) continue;
    const isMissing = (one: Unread) => one.unread === 'away' && archives === 'here';
    const own = [
      ...read.flatMap(({ differences }) => differences),
      ...[...unread.values()].filter(isMissing).map(unreadText),
    ];
    return {
      batches: read.length,
      orders: read.reduce((sum, { orders }) => sum + orders, 0),
      differences: isStill && whole !== null ? [...own, ...whole] : own,
      unchecked: [
        ...[...unread.values()].filter((one) => !isMissing(one)).map(unreadText),
        ...(isStill && whole !== null ? [] : [overAllText(isStill)]),
      ],
    };
  }
}

async function lookAt(ref: BatchRef, known: BatchAudit | undefined): Promise<BatchAudit | Unread | null> {
  for (let look = 1; ; look++) {
    const audit = await auditBatch(ref, known?.stamp);
    if (audit === 'same' && known !== undefined) return known;
    if (audit === 'same') throw new TypeError('a batch that was never read is not the same');
    const moves = audit !== null && 'unread' in audit && audit.unread === 'moving';
    if (!moves || look === LOOKS_AT_A_BATCH) return audit;
  }
}

function unreadText({ ref, ...unread }: Unread & { readonly ref: BatchRef }): string {
  return unread.unread === 'moving'
    ? `batch ${ref.id}: it moved at each of ${LOOKS_AT_A_BATCH} looks; pause it, or verify again when it is done`
    : `batch ${ref.id}: ${unread.why}`;
}

function overAllText(isStill: boolean): string {
  const what =
    'the running totals, the sums of days and accounts, references that an undo may have freed, and held members';
  return isStill
    ? `${what}: not every batch could be read`
    : `${what}: the ledger moved at each of ${counted(PASSES, 'look')}`;
}

/** Whatever changes when something moves anywhere in the realm: its numbers, and how far each batch has come. */
async function realmStamp(ledger: RealmLedger): Promise<string> {
  const numbers = await askRealm(ledger, 'read realm', (redis, T) =>
    redis.hmget(T, 'seq', 'seals', 'retries', 'batches', 'holds', 'era', 'armed'),
  );
  const facts = await Promise.all(
    (await listBatches(ledger)).map((ref) => batchFacts(ref, 'state', 'version', 'cursor')),
  );
  return JSON.stringify([numbers, facts]);
}

/** What ties only over all batches of the realm. */
async function overAll(
  ledger: RealmLedger,
  refs: readonly BatchRef[],
  audits: readonly BatchAudit[],
): Promise<string[]> {
  const undone = new Set(audits.flatMap((audit) => audit.undone));
  const misheld = audits
    .flatMap(({ references }) => references)
    .filter(({ order, mine }) => mine || !undone.has(order));
  const lines = await Promise.all([
    ...misheld.map((one) => referenceText(ledger, one)),
    daysText(ledger, audits),
    accountsText(ledger, audits),
    totalsText(
      ledger,
      audits.some(({ totals }) => totals === null) ? null : audits.flatMap(({ totals }) => totals ?? []),
    ),
    realmText(ledger),
    strayReferencesText(ledger, new Map(audits.map(({ no, spent }) => [no, spent]))),
    listsText(ledger, refs),
  ]);
  return [...lines.flat(), ...(await holdsText(ledger, audits))];
}

async function referenceText(ledger: RealmLedger, one: MisheldReference): Promise<string[]> {
  const { order, state, mine, holder } = one;
  // An order that was paid under it in a past which the store had forgotten keeps the reference.
  if (!mine && holder !== null && (await isPaid(ledger, holder))) return [];
  return [`the reference of ${state} order ${order} is ${mine ? '' : 'not '}spent by it`];
}

async function isPaid(ledger: RealmLedger, holder: { no: string; index: number }): Promise<boolean> {
  const { no, index } = holder;
  const [state] = await batchFacts({ ledger, no }, 'state');
  return state === 'archived' || (await readRecord({ ledger, no }, index)).code === 'P';
}

/** A day's sum is what was sent and not proven unapplied. */
async function daysText(ledger: RealmLedger, audits: readonly BatchAudit[]): Promise<string[]> {
  const found = new Map<string, bigint>();
  for (const { days } of audits) {
    if (days === null) return [];
    for (const [day, tokens] of days) add(found, day, tokens);
  }
  const kept = await hashOf(ledger, 'days');
  return sameEntries(kept, nonZero(found))
    ? []
    : [`days say ${shown(kept)}, orders say ${shown(nonZero(found))}`];
}

/** A rule's account holds what is paid or may be of its orders, less what was undone; and payments that no record tells of. */
async function accountsText(ledger: RealmLedger, audits: readonly BatchAudit[]): Promise<string[]> {
  const found = new Map<string, bigint>();
  for (const { held } of audits) for (const [account, tokens] of held) add(found, account, tokens);
  for (const entry of (await hashOf(ledger, 'keptHeld')).values()) {
    const [tokens = '0', account = ''] = entry.split(' ');
    add(found, account, BigInt(tokens));
  }
  const kept = await hashOf(ledger, 'held');
  return sameEntries(kept, nonZero(found))
    ? []
    : [`accounts say ${shown(kept)}, orders say ${shown(nonZero(found))}`];
}

async function hashOf(ledger: RealmLedger, name: 'days' | 'held' | 'keptHeld'): Promise<Map<string, string>> {
  const all = await askRealm(ledger, `read ${name}`, (redis, T) => redis.hgetall(`${T}:${name}`));
  return new Map(Object.entries(all).filter(([, sum]) => sum !== '0'));
}

/** A held member is noted by its order as well, and an order waits only for a member that is held. */
async function holdsText(ledger: RealmLedger, audits: readonly BatchAudit[]): Promise<string[]> {
  const noted = new Map(audits.flatMap(({ holds }) => [...holds]));
  const { holders, strangers } = await askRealm(ledger, 'read holds', async (redis, T) => {
    const found = new Map(Object.entries(await redis.hgetall(`${T}:holders`)));
    const waits = audits.flatMap((audit) => audit.waits);
    const queues = await Promise.all(waits.map(({ member }) => redis.lrange(`${T}:wait:${member}`, 0, -1)));
    return {
      holders: found,
      strangers: waits.flatMap(({ order, member }, i) => [
        ...(found.has(member) ? [] : [`order ${order} waits for ${member}, whom no order holds`]),
        ...(queues[i]?.includes(order) ? [] : [`order ${order} is in no queue for ${member}`]),
      ]),
    };
  });
  return sameEntries(holders, noted)
    ? strangers
    : [...strangers, `holds are ${shown(holders)}, orders say ${shown(noted)}`];
}

/**
 * The realm's own keys against its batches: a batch that is in no list would never be looked at, and its spent references
 * would be the only trace of it. Not found here: a number of batches that is too high, as imports that were given up leave
 * one.
 */
async function realmText(ledger: RealmLedger): Promise<string[]> {
  const listed = new Set((await listBatches(ledger)).map(({ no }) => no));
  return askRealm(ledger, 'read realm', async (redis, T) => {
    const prefix = `${T}:b:`;
    const [[count, seq, era], open, looked, keys] = await Promise.all([
      redis.hmget(T, 'batches', 'seq', 'era'),
      redis.zrange(`${T}:open`, 0, '-1'),
      redis.hvals(`${T}:looked`),
      keysLike(redis, `${prefix}*`, (key) => /^[0-9]+$/.test(key.slice(prefix.length))),
    ]);
    const stored = keys.map((key) => key.slice(prefix.length));
    const last = Math.max(0, ...[...listed, ...stored].map(Number));
    const seen = Math.max(0, ...looked.map(Number));
    return [
      ...stored.filter((no) => !listed.has(no)).map((no) => `batch no. ${no} is in the store and in no list`),
      ...open.filter((no) => !listed.has(no)).map((no) => `no. ${no} is open, and there is no such batch`),
      ...(Number(count ?? 0) < last
        ? [`${counted(Number(count ?? 0), 'batch', 'batches')} counted, and there is no. ${last}`]
        : []),
      ...(Number(seq ?? 0) < seen
        ? [`the ledger ends at move ${seq ?? 0}, and a process has seen move ${seen}`]
        : []),
      ...(era == null && seen > 0 ? ['the ledger has no epoch, and processes have worked with it'] : []),
    ];
  });
}
