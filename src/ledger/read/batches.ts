import { z } from 'zod';
import { counted } from '../../core/counted.js';
import { CATALOGUE, type ErrorCode } from '../../core/errors/catalogue.js';
import { AlmonerError } from '../../core/errors/error.js';
import { type BatchId, batchId, isBatchId, orderId } from '../../core/ids.js';
import { type Standstill, shownState, whyNotBatch } from '../../core/may-send.js';
import { OPS, type Op } from '../../core/order.js';
import { BATCH_STATES, type BatchState, ORDER_STATES, type OrderState } from '../../core/states.js';
import { batchKeys, unresumedKey } from '../keys.js';
import { askRealm, type BatchRef, batchFacts, type RealmLedger } from '../realm-ledger.js';
import { CODE_OF_STATE } from '../record.js';
import type { ScriptClient } from '../script-client.js';
import { type BatchView, decodeManifest, decodeReason, type Manifest, type Reason } from '../views.js';
import { batchesIn, batchesLike, ledgersNamed, newestFirst } from './batch-lists.js';
import { archivePath } from './batch-source.js';
import type { ApprovalRequest } from './gate.js';
import { confirmedHash, type Gate, readGate, type Start, withSetTime } from './gate.js';
import { realmState } from './realm-state.js';

/** Finding batches by what people type, and reading one as a view. */

/** The batch that a number stands for now, or stood for before an import was given up. */
export async function batchRef(ledger: RealmLedger, no: string): Promise<BatchRef> {
  return { ledger, no, id: (await idOfBatch(ledger, no)) ?? batchId('unknown') };
}

/** After a rollback a number may stand for another batch; null where it stands for none. */
export async function idOfBatch(ledger: RealmLedger, no: string): Promise<BatchId | null> {
  const [id] = await batchFacts({ ledger, no }, 'id');
  return id == null ? null : batchId(id);
}

/** All batches of a realm, oldest first: for the auditor, who reads everything. */
export async function listBatches(ledger: RealmLedger): Promise<BatchRef[]> {
  const found = await askRealm(ledger, 'list batches', (redis, T) => redis.hgetall(`${T}:batches`));
  return Object.entries(found)
    .map(([id, no]) => ({ ledger, no, id: batchId(id) }))
    .sort((a, b) => Number(a.no) - Number(b.no));
}

/** The hash of every archive that the ledger names, by its file's path in a data folder or a backup. */
export async function namedArchives(ledger: RealmLedger): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const ref of await batchesIn(ledger, 'archived')) {
    const [state, sha256] = await batchFacts(ref, 'state', 'archive');
    if (state === 'archived' && sha256 != null) found.set(archivePath('archive', ledger.id, ref.id), sha256);
  }
  return found;
}

export async function batchNumber(ledger: RealmLedger, id: BatchId): Promise<string | null> {
  return askRealm(ledger, 'find batch', (redis, T) => redis.hget(`${T}:batches`, id));
}

/**
 * `last`, an id, or a unique prefix of one, over all realms of the store (or one, by name or id). Who only looks may
 * say that `last` is the newest of all realms; what changes something must not reach into another realm by accident.
 */
export async function findBatch(
  scripts: ScriptClient,
  wanted: string,
  realm?: string,
  { lookingOnly = false } = {},
): Promise<BatchRef> {
  const ledgers = await ledgersNamed(scripts, realm);
  if (wanted === 'last') return lastOf(ledgers, realm === undefined && !lookingOnly);
  const exact = await Promise.all(
    ledgers.map(async (ledger) => {
      const no = isBatchId(wanted) ? await batchNumber(ledger, wanted) : null;
      return no === null ? [] : [{ ledger, no, id: batchId(wanted) }];
    }),
  );
  const known = exact.flat();
  const like =
    known.length > 0 ? [] : await Promise.all(ledgers.map((one) => batchesLike(one, wanted, NAMED)));
  const matches = [...known, ...like.flatMap(({ refs }) => refs)];
  const count = like.reduce((sum, one) => sum + one.count, known.length);
  const [match, ...more] = matches;
  if (match === undefined)
    throw new AlmonerError(
      'ALM_BATCH_NOT_FOUND',
      `No batch is called ${JSON.stringify(wanted)} or begins with it. Nothing was done.`,
    );
  if (more.length > 0)
    throw new AlmonerError(
      'ALM_BATCH_AMBIGUOUS',
      `${counted(count, 'batch', 'batches')} begin with ${JSON.stringify(wanted)}. Nothing was done.`,
      { details: matches.slice(0, NAMED).map(named) },
    );
  return match;
}

const NAMED = 10;

/** The newest; `ofOneRealm`: refused where another realm has batches too. A rehearsal is nobody's other realm. */
async function lastOf(ledgers: readonly RealmLedger[], ofOneRealm: boolean): Promise<BatchRef> {
  const newest = await Promise.all(ledgers.map(async (ledger) => (await newestFirst(ledger).next()).value));
  const stamped = newest.flatMap((ref) => ref ?? []).sort((a, b) => b.madeAt - a.madeAt);
  const [last, ...others] = stamped;
  if (last === undefined)
    throw new AlmonerError('ALM_BATCH_NOT_FOUND', 'There is no batch yet. Nothing was done.', {
      next: 'Make one with `almoner run FILE`, or try with `almoner rehearse FILE`.',
    });
  const rivals = others.filter(({ ledger }) => !ledger.realm.rehearsal);
  if (!ofOneRealm || last.ledger.realm.rehearsal || rivals.length === 0) return last;
  throw new AlmonerError(
    'ALM_BATCH_AMBIGUOUS',
    `\`last\` may be a batch of any of ${rivals.length + 1} realms. Nothing was done.`,
    { details: [last, ...rivals].map(named), next: 'Name the batch, or the realm with --realm.' },
  );
}

function named({ id, ledger: { realm } }: BatchRef): string {
  return `${id} (realm ${realm.name})`;
}

export type StoredBatch = BatchView & {
  /** The index of its last row. */
  readonly lastIndex: number;
  readonly version: number;
  readonly owner: string;
  /** The number of its seal among the realm's. */
  readonly seal: number;
  /** What keeps it as a whole from being sent, that first which a person meets before the others. */
  readonly whyNot: readonly Standstill[];
  /** Dead letters that a person is done with: discarded, or put into another file. */
  readonly aside: number;
  /** How it stands before it begins; null once it has. */
  readonly gate: Gate | null;
  /** The request for a retry of its dead letters, while it waits for an approval. */
  readonly retry: ApprovalRequest | null;
  /** Of all that an approver is shown of it. */
  readonly confirmed: string;
  /** How often an order of it that was over was put back to work, or may be paid after all. */
  readonly retried: number;
  /** The orders that were paid twice, or may have been, by index. */
  readonly twice: ReadonlySet<number>;
  /** The orders of an archive that were paid after all, or may have been, by index. */
  readonly late: ReadonlySet<number>;
};

/** Undefined where it is not sealed, or its number stands for another batch since a rollback. */
export async function readBatch(ref: BatchRef): Promise<StoredBatch | undefined> {
  const keys = batchKeys(ref.ledger.keyPrefix, ref.no);
  return ref.ledger.scripts.ask('read batch', async (redis) => {
    const [meta, counters, realm, unresumed] = await Promise.all([
      redis.hgetall(keys.meta),
      redis.hgetall(keys.counters),
      realmState(ref.ledger),
      redis.sismember(unresumedKey(ref.ledger), ref.no),
    ]);
    const { manifest } = meta;
    if (manifest === undefined || meta.id !== ref.id) return undefined;
    const { archived, stored, isBefore } = standingOf(meta);
    const read = isBefore || meta.retry !== undefined ? await readGate(ref) : null;
    const recovered = meta.recovered === '1';
    const members = Number(meta.members ?? (recovered ? await redis.scard(keys.recoveredMembers) : 0));
    const sealed = decodeManifest(manifest);
    const gate = isBefore ? (read?.gate ?? null) : null;
    const whyNot = whyNotBatch({
      state: stored,
      isLedgerClosed: realm.disarmed !== null,
      isRealmHalted: realm.halt !== null,
      waitsForPerson: unresumed === 1,
      closed: gate?.closed ?? null,
    });
    const sums = sumsOf(counters);
    const aside = Number(meta.aside ?? 0);
    return {
      manifest: recovered ? { ...sealed, ...recoveredTotals(meta), members } : sealed,
      recovered,
      incomplete: meta.incomplete === '1',
      lastIndex: Number(meta.rows ?? 0),
      state: shownState(stored, whyNot),
      whyNot,
      reason: reasonOf(ref, { meta, realm, gate, stored, why: whyNot[0] }),
      ...sums,
      ...countsOf(meta),
      rate: null,
      archived,
      ...laterPayments(ref, meta),
      version: Number(meta.version ?? 0),
      owner: meta.owner ?? '',
      seal: Number(meta.seal ?? 0),
      aside,
      retried: Number(meta.retried ?? 0),
      gate,
      retry: openDead({ ...sums, aside }) > 0 ? (read?.retry ?? null) : null,
      confirmed: confirmedHash(ref.ledger, sealed, {
        who: meta.preparer ?? null,
        start: sealedStart(meta),
      }),
    };
  });
}

type Meta = Readonly<Record<string, string>>;

/** Rows and tokens of each state that has any. */
function sumsOf(counters: Meta): Pick<StoredBatch, 'counts' | 'sums'> {
  const counts: Partial<Record<OrderState, number>> = {};
  const sums: Partial<Record<OrderState, bigint>> = {};
  for (const state of ORDER_STATES) {
    const count = Number(counters[`c:${CODE_OF_STATE[state]}`] ?? 0);
    if (count === 0) continue;
    counts[state] = count;
    sums[state] = BigInt(counters[`t:${CODE_OF_STATE[state]}`] ?? 0);
  }
  return { counts, sums };
}

function countsOf(meta: Meta) {
  return {
    requests: Number(meta.requests ?? 0),
    retries: Number(meta.retries ?? 0),
    rateLimited: Number(meta.limited ?? 0),
    startedAt: meta.startedAt === undefined ? null : Number(meta.startedAt),
    finishedAt: meta.finishedAt === undefined ? null : Number(meta.finishedAt),
  };
}

function standingOf(meta: Meta) {
  const archived = meta.state === 'archived';
  // What waits for an approval has a state of its own in the store, so that no other program feeds it.
  const stored = batchState.parse(archived ? meta.ended : meta.state === 'waiting' ? 'planned' : meta.state);
  // What is over has no gate before it, and most batches are: theirs is not asked for.
  const isOver = archived || stored === 'done' || stored === 'cancelled';
  return { archived, stored, isBefore: meta.begun === undefined && !isOver };
}

type ForReason = {
  readonly meta: Meta;
  readonly realm: Awaited<ReturnType<typeof realmState>>;
  readonly gate: Gate | null;
  readonly stored: BatchState;
  readonly why: Standstill | undefined;
};

/** Why it does not go on, in words. */
function reasonOf(ref: BatchRef, facts: ForReason): Reason | null {
  const stands = standsFor(facts);
  const reason = stands && withSetTime(stands, facts.gate);
  return reason && namedReason(reason, ref.id);
}

function standsFor({ meta, realm, gate, stored, why }: ForReason): Reason | null {
  if (stored !== 'running' && stored !== 'planned') return decodeReason(meta.reason);
  switch (why) {
    case 'disarmed':
      return realm.disarmed;
    case 'halted':
      return realm.halt;
    case 'after-rollback':
      return catalogued('ALM_LEDGER_AFTER_ROLLBACK');
    case 'approval':
      return { ...catalogued('ALM_BATCH_APPROVAL'), message: approvalNeeded(gate?.preparer ?? null) };
    case 'start-missed':
      return catalogued('ALM_BATCH_START_MISSED');
    default:
      // A time alone is no trouble.
      return null;
  }
}

/** Orders that were paid twice, or of an archive after all, with what is to be said of them. */
function laterPayments({ id }: BatchRef, meta: Meta): Pick<StoredBatch, 'twice' | 'late' | 'notes'> {
  const twice = saidOf(meta.second ?? '', /[PuB]/);
  const late = saidOf(meta.second ?? '', /[Aa]/);
  const notes = [
    meta.recovered === '1' ? recoveredNote(meta, id) : [],
    meta.readbackEnded ?? [],
    secondPayments(twice, id),
    latePayments(late, id),
  ].flat();
  return { twice, late, notes };
}

/** Its set time; void by now, it is the one that it was sealed with. */
function sealedStart({ startAt, startZone = '', sealedStart: sealed }: Record<string, string>): Start | null {
  if (startAt !== undefined) return { at: Number(startAt), zone: startZone };
  if (sealed === undefined) return null;
  const [at = '', zone = ''] = sealed.split(' ');
  return { at: Number(at), zone };
}

/** What a manifest says of its rows; that of a recovered batch was written before any of them was known. */
function recoveredTotals(meta: Record<string, string>): Pick<Manifest, 'rows' | 'orders' | 'tokens'> {
  const count = (op: Op) => Number(meta[`orders:${op}`] ?? 0);
  const sum = (op: Op) => BigInt(meta[`tokens:${op}`] ?? 0);
  return {
    rows: OPS.reduce((all, op) => all + count(op), 0),
    orders: { credit: count('credit'), debit: count('debit'), transfer: count('transfer') },
    tokens: { credit: sum('credit'), debit: sum('debit'), transfer: sum('transfer') },
  };
}

function catalogued(code: ErrorCode): Reason {
  const { means, next } = CATALOGUE[code];
  return { code, message: means, next };
}

/** `who`: the person who prepared it, or asked for it; null where it cannot be approved. */
export function approvalNeeded(who: string | null): string {
  return who === null || who === ''
    ? 'It needs an approval, and cannot get one: it was prepared, or an order of it was retried, without a token, so that no second person can be told from the first. Cancel it, and make it again with ALMONER_TOKEN set.'
    : `It needs the approval of a person other than ${who}.`;
}

/** The dead letters that wait for a person, also in an archive: its letters cannot be retried, only discarded. */
export function openDead({ counts, aside }: Pick<StoredBatch, 'counts' | 'aside'>): number {
  return (counts.refused ?? 0) + (counts.exhausted ?? 0) - aside;
}

const batchState = z.enum(BATCH_STATES);
const NAMED_MAX = 5;

/** As the scripts keep them: `<index>:<nonce>:<how> …` (see includes/second.lua). */
function saidOf(said: string, how: RegExp): Set<number> {
  const words = [...said.matchAll(/(?:^| )(\d+):[^ :]*:(\w)/g)];
  return new Set(words.filter(([, , one = '']) => how.test(one)).map(([, index]) => Number(index)));
}

function recoveredNote(meta: Record<string, string>, id: BatchId): string[] {
  const rest =
    meta.incomplete === '1'
      ? 'More of it may have been paid: a person has accepted that.'
      : `Its file, run again${meta.state === 'archived' || meta.state === 'cancelled' ? ' with --new-rows-only' : ''}, pays the rest.`;
  return [
    `Recovered: the store had forgotten batch ${id}, and it holds the orders that journals know. ${rest}`,
  ];
}

function secondPayments(indexes: ReadonlySet<number>, id: BatchId): string[] {
  if (indexes.size === 0) return [];
  return [
    `May have been paid twice: ${namesOf(indexes, id)}. The audit says what is known. Look upstream; where both payments are there, take one back with the row that \`almoner undo ${id}\` writes for it, or, where it is an undo itself, with an order of its own.`,
  ];
}

function latePayments(indexes: ReadonlySet<number>, id: BatchId): string[] {
  if (indexes.size === 0) return [];
  return [
    `Paid after all, or perhaps: ${namesOf(indexes, id)}. A journal knows of it, and the books do not call them paid. The audit says what is known. Look upstream before you pay them otherwise; their references are spent.`,
  ];
}

function namesOf(indexes: ReadonlySet<number>, id: BatchId): string {
  const named = [...indexes].slice(0, NAMED_MAX).map((index) => orderId(id, index));
  const more = indexes.size > NAMED_MAX ? ` and ${counted(indexes.size - NAMED_MAX, 'other')}` : '';
  return `${named.join(', ')}${more}`;
}

/** The next step is told with the batch's own id, ready to be copied. */
export function namedReason(reason: Reason, id: BatchId): Reason {
  return { ...reason, next: reason.next.replaceAll('BATCH', id) };
}
