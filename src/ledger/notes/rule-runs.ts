import { accountName } from '../../core/reference.js';
import type { RealmLedger } from '../realm-ledger.js';

/**
 * Runs of rules in the realm's slot, beside their short records (see `ruleNotes`): the decided blocks of each run,
 * and, while facts are being read, what was read so far.
 */
const blockKey = ({ keyPrefix }: RealmLedger, id: string, block: number) =>
  `${keyPrefix}:rules:run:${id}:${block}`;
const factsKey = ({ keyPrefix }: RealmLedger, id: string) => `${keyPrefix}:rules:run:${id}:facts`;

/**
 * Goes on with a run whose reading was interrupted, under another id, with the facts that were read so far. Its process
 * may live after all, and what it writes of facts, decisions and batch under its own id must meet nobody else's: it has
 * in memory what it has read, and finishes its run as if nothing had happened. False where it is not being read any more.
 */
export async function takeReading(
  ledger: RealmLedger,
  from: string,
  taken: { readonly id: string },
): Promise<boolean> {
  const { scripts, keyPrefix } = ledger;
  const keys = [`${keyPrefix}:rules:runs`, factsKey(ledger, from), factsKey(ledger, taken.id)];
  const reply = await scripts.ask('take run', () =>
    scripts.once('take-reading', keys, [from, taken.id, JSON.stringify(taken)]),
  );
  return reply === 1;
}

export async function putDecisions(
  ledger: RealmLedger,
  id: string,
  block: number,
  bytes: Uint8Array,
): Promise<void> {
  const key = blockKey(ledger, id, block);
  await ledger.scripts.ask('keep decisions', (redis) => redis.set(key, Buffer.from(bytes)));
}

export function readDecisions(ledger: RealmLedger, id: string, block: number): Promise<Buffer | null> {
  const key = blockKey(ledger, id, block);
  return ledger.scripts.ask('read decisions', (redis) => redis.getBuffer(key));
}

export async function forgetDecisions(ledger: RealmLedger, id: string, blocks: number): Promise<void> {
  const { scripts } = ledger;
  await scripts.ask('forget facts', (redis) => redis.unlink(factsKey(ledger, id)));
  for (let block = 0; block < blocks; block++)
    await scripts.ask('forget decisions', (redis) => redis.unlink(blockKey(ledger, id, block)));
}

/** What was read for a run that is not decided yet; each fact is kept as it comes, so that a kill costs none. */
export type FactsKept = {
  readonly known: Map<string, string>;
  keep(field: string, value: string): Promise<void>;
  drop(): Promise<void>;
};

const FACTS_PAGE = 1_000;

export async function openFacts(ledger: RealmLedger, id: string): Promise<FactsKept> {
  const { scripts } = ledger;
  const key = factsKey(ledger, id);
  const known = new Map<string, string>();
  // Page by page: those of a large audience in one answer would hold up the process.
  for (let cursor = '', page: string[] = []; cursor !== '0'; ) {
    [cursor, page] = await scripts.ask('read facts', (redis) =>
      redis.hscan(key, cursor || '0', 'COUNT', FACTS_PAGE),
    );
    for (let at = 0; at + 1 < page.length; at += 2) known.set(page[at] ?? '', page[at + 1] ?? '');
  }
  return {
    known,
    async keep(field, value) {
      known.set(field, value);
      await scripts.ask('keep fact', (redis) => redis.hset(key, field, value));
    },
    async drop() {
      await scripts.ask('drop facts', (redis) => redis.unlink(key));
    },
  };
}

/** The last number of a rule's runs in a period, and whether its batch is still open; null before the first. */
export async function lastRunNumber(
  { scripts, keyPrefix }: RealmLedger,
  rule: string,
  period: string,
): Promise<{ readonly number: number; readonly isOpen: boolean } | null> {
  const account = accountName(rule, period);
  const last = await scripts.ask('read number', (redis) => redis.hget(`${keyPrefix}:rules:numbers`, account));
  if (last === null) return null;
  const [number = '', no = ''] = last.split(' ');
  const open = await scripts.ask('read batch', (redis) => redis.zscore(`${keyPrefix}:open`, no));
  return { number: Number(number), isOpen: open !== null };
}
