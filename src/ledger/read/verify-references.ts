import { counted } from '../../core/counted.js';
import { askRealm, batchFacts, type RealmLedger } from '../realm-ledger.js';
import { parseHolder } from '../reference.js';
import { findSpent } from './earlier.js';
import { keysLike } from './verify-read.js';

/**
 * References that are spent though no order has them. The auditor of a batch asks from each order for its reference, so a
 * reference in the name of an order that has another one, or none, is only found from the other side: every spent
 * reference is counted by the batch that keeps it, and compared with how many the orders of that batch account for.
 * Counts are enough, because a reference that is missing is named by its order.
 */
export async function strayReferencesText(
  ledger: RealmLedger,
  spentByOrders: ReadonlyMap<string, number>,
): Promise<string[]> {
  const { found, lost } = await countSpent(ledger);
  const strays = [...found].flatMap(([no, count]) => {
    const expected = spentByOrders.get(no) ?? 0;
    if (count <= expected || !LISTED.test(no)) return [];
    const spent = `${counted(count, 'reference')} ${count === 1 ? 'is' : 'are'} spent`;
    return [`${spent} in the name of batch no. ${no}, and its orders account for ${expected}`];
  });
  const gone = [...lost].map(
    ([no, count]) =>
      `${counted(count, 'reference')} in the name of batch no. ${no}, which is not in the store`,
  );
  return [...strays, ...gone];
}

/** Batches of references that were added, and payments of a replaced batch, have no rows in the store. */
const LISTED = /^[0-9]+$/;
/** Some thousand references at 16 to a hash, in a ledger of a million. */
const SHARDS_AT_ONCE = 200;

/** `found`: references that are spent, by the batch that keeps them. `lost`: those whose batch has left no trace. */
async function countSpent(ledger: RealmLedger) {
  const [found, lost] = [new Map<string, number>(), new Map<string, number>()];
  const prefix = `${ledger.keyPrefix}:ref:`;
  const keys = await askRealm(ledger, 'list references', (redis) => keysLike(redis, `${prefix}*`));
  for (let first = 0; first < keys.length; first += SHARDS_AT_ONCE) {
    const some = keys.slice(first, first + SHARDS_AT_ONCE);
    const packed = await askRealm(ledger, 'read references', (redis) =>
      Promise.all(
        some.map(async (key) => {
          const shard = Buffer.from(key.slice(prefix.length), 'latin1');
          return (await redis.hkeysBuffer(key)).map((field) => Buffer.concat([shard, field]));
        }),
      ),
    );
    for (const no of await holdersOf(ledger, packed.flat())) raise(found, no);
    const named = await askRealm(ledger, 'read references', (redis) =>
      Promise.all(some.map((key) => redis.hvals(key))),
    );
    for (const entry of named.flat()) raise(lost, parseHolder(entry).no);
  }
  const isThere = await Promise.all([...lost.keys()].map((no) => hasState(ledger, no)));
  for (const [at, no] of [...lost.keys()].entries())
    if (isThere[at] === true || !LISTED.test(no)) lost.delete(no);
  return { found, lost };
}

function raise(counts: Map<string, number>, no: string): void {
  counts.set(no, (counts.get(no) ?? 0) + 1);
}

async function hasState(ledger: RealmLedger, no: string): Promise<boolean> {
  const [state] = await batchFacts({ ledger, no }, 'state');
  return state != null;
}

/** The batches that keep these references spent. One entry that cannot be read fails the whole question. */
async function holdersOf(ledger: RealmLedger, references: readonly Buffer[]): Promise<string[]> {
  if (references.length === 0) return [];
  try {
    const hashes = references.map((one) => one.toString('latin1'));
    return [...(await findSpent(ledger, hashes, hashes)).values()].map(({ no }) => no);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ReplyError') throw error;
    // Its order says that it cannot be read.
    if (references.length === 1) return [];
    const middle = Math.ceil(references.length / 2);
    const halves = [references.slice(0, middle), references.slice(middle)];
    return (await Promise.all(halves.map((half) => holdersOf(ledger, half)))).flat();
  }
}
