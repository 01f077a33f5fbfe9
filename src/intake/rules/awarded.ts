import { batchId, orderId } from '../../core/ids.js';
import { batchNumber, readBatch } from '../../ledger/batches.js';
import type { Books } from '../../ledger/books.js';
import { batchKeys } from '../../ledger/keys.js';
import { findSpent } from '../../ledger/plan-store.js';
import type { AudienceRow } from './audience-row.js';

/** What the ledger knows of a rule's earlier runs in a period. */

/** The business key of an award: one for each rule, period and member. */
export function awardReference(rule: string, period: string, member: string): string {
  return `rule:${rule}:${period}:${member}`;
}

const ASKED_AT_ONCE = 256;

/** The members whose reference of the period is spent, with the order that holds it. */
export async function alreadyAwarded(
  books: Books,
  rule: string,
  period: string,
  rows: readonly AudienceRow[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const ids = new Map<string, Promise<string | null>>();
  const { caller, realm } = books;
  const idOf = (no: string): Promise<string | null> => {
    const known =
      ids.get(no) ?? caller.patiently('read batch', () => caller.redis.hget(batchKeys(realm, no).meta, 'id'));
    ids.set(no, known);
    return known;
  };
  for (let start = 0; start < rows.length; start += ASKED_AT_ONCE) {
    const members = rows.slice(start, start + ASKED_AT_ONCE).map(({ member }) => member);
    const spent = await findSpent(
      books,
      members.map((member) => awardReference(rule, period, member)),
    );
    for (const member of members) {
      const holder = spent.get(awardReference(rule, period, member));
      if (holder === undefined) continue;
      const id = await idOf(holder.no);
      found.set(member, id === null ? 'an order of an archived batch' : orderId(batchId(id), holder.index));
    }
  }
  return found;
}

const batchesKey = (books: Books, rule: string, period: string) =>
  `${books.realm}:rules:awarded:${rule}:${period}`;

/**
 * Noted before the batch is made, so that neither a crash in between nor a second run at the same moment can
 * hide what it pays from `perPeriod`; and once more when it is sealed, so that it still counts after it has
 * left the store.
 */
export async function noteAwarding(
  books: Books,
  run: { readonly rule: string; readonly period: string },
  batch: string,
  tokens: bigint,
  state: 'importing' | 'sealed',
): Promise<void> {
  const { caller } = books;
  const key = batchesKey(books, run.rule, run.period);
  await caller.patiently('note award', () => caller.redis.hset(key, batch, `${tokens} ${state}`));
}

/** Takes back the note of a batch that was refused as a whole. */
export async function dropAwarding(
  books: Books,
  run: { readonly rule: string; readonly period: string },
  batch: string,
): Promise<void> {
  const { caller } = books;
  const key = batchesKey(books, run.rule, run.period);
  await caller.patiently('drop award', () => caller.redis.hdel(key, batch));
}

/**
 * What earlier runs of the period hold: paid, or still to be paid. What was refused, exhausted or cancelled
 * is free again. A batch that is not in the store, because it is being made or has left it, counts with all
 * it was planned to pay. `except` names the batch that asks.
 */
export async function awardedInPeriod(
  books: Books,
  rule: string,
  period: string,
  except: string | null = null,
): Promise<bigint> {
  const { caller } = books;
  const noted = await caller.patiently('read awards', () =>
    caller.redis.hgetall(batchesKey(books, rule, period)),
  );
  let sum = 0n;
  for (const [id, note] of Object.entries(noted)) {
    if (id === except) continue;
    const no = await batchNumber(books, batchId(id));
    const batch = no === null ? undefined : await readBatch({ books, no, id: batchId(id) });
    if (batch === undefined) sum += BigInt(note.split(' ')[0] ?? 0);
    else {
      const { planned = 0n, sending = 0n, unknown = 0n, doubt = 0n, paid = 0n } = batch.sums;
      sum += planned + sending + unknown + doubt + paid;
    }
  }
  return sum;
}
