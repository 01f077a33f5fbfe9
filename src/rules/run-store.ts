import { AlmonerError } from '../core/errors/error.js';
import { accountName, type RealmLedger } from '../ledger/index.js';
import { changeField } from './change-field.js';
import { decodeEntries, type RunEntry, type RunMeta, runMeta } from './run-record.js';

/**
 * Runs in the store, beside the realm's ledger and in its slot: one hash of short records, the decided blocks
 * of each run, and, while facts are being read, a hash of what was read so far.
 */
const runsKey = (ledger: RealmLedger) => `${ledger.keyPrefix}:rules:runs`;
const blockKey = (ledger: RealmLedger, id: string, block: number) =>
  `${ledger.keyPrefix}:rules:run:${id}:${block}`;
const factsKey = (ledger: RealmLedger, id: string) => `${ledger.keyPrefix}:rules:run:${id}:facts`;

export async function putRun(ledger: RealmLedger, meta: RunMeta): Promise<void> {
  const { scripts } = ledger;
  await scripts.retryWhileAway('keep run', () =>
    scripts.redis.hset(runsKey(ledger), meta.id, JSON.stringify(meta)),
  );
}

/** Changes a run as it stands now; `change` says what becomes of it, or null to leave it. Returns what stands then. */
export async function changeRun(
  ledger: RealmLedger,
  id: string,
  change: (known: RunMeta | null) => RunMeta | null,
): Promise<RunMeta | null> {
  let stands: RunMeta | null = null;
  await changeField(ledger, runsKey(ledger), id, (known) => {
    const before = known === null ? null : runMeta.parse(JSON.parse(known));
    const after = change(before);
    stands = after ?? before;
    return after === null ? known : JSON.stringify(after);
  });
  return stands;
}

const TAKE_READING = `
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then return 1 end
local known = redis.call('HGET', KEYS[1], ARGV[1])
if not known or cjson.decode(known).state ~= 'reading' then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[3]) end
return 1`;

/**
 * Goes on with a run whose reading was interrupted, under another id, with the facts that were read so far. Its process
 * may live after all, and what it writes of facts, decisions and batch under its own id must meet nobody else's: it has
 * in memory what it has read, and finishes its run as if nothing had happened. False where it is not being read any more.
 */
export async function takeReading(ledger: RealmLedger, from: string, taken: RunMeta): Promise<boolean> {
  const { scripts } = ledger;
  const keys = [runsKey(ledger), factsKey(ledger, from), factsKey(ledger, taken.id)];
  const reply = await scripts.retryWhileAway('take run', () =>
    scripts.redis.eval(TAKE_READING, keys.length, ...keys, from, taken.id, JSON.stringify(taken)),
  );
  return reply === 1;
}

/** All runs of a realm, oldest first. */
export async function listRuns(ledger: RealmLedger): Promise<RunMeta[]> {
  const { scripts } = ledger;
  const all = await scripts.retryWhileAway('list runs', () => scripts.redis.hvals(runsKey(ledger)));
  return all.map((json) => runMeta.parse(JSON.parse(json))).sort((a, b) => a.startedAt - b.startedAt);
}

/** By id, a unique prefix of one, the batch that was made of it, or `last`. */
export async function findRun(ledger: RealmLedger, named: string, rule?: string): Promise<RunMeta> {
  const runs = (await listRuns(ledger)).filter((run) => rule === undefined || run.rule === rule);
  // Of two that name one batch, the later made it: the import of the earlier was cancelled.
  const exact = runs.find(({ id }) => id === named) ?? runs.findLast(({ batch }) => batch === named);
  if (exact !== undefined) return exact;
  const matching = named === 'last' ? runs.slice(-1) : runs.filter(({ id }) => id.startsWith(named));
  const [only, ...others] = matching;
  if (only === undefined)
    throw new AlmonerError(
      'ALM_RULE_RUN_NOT_FOUND',
      `No plan or run of a rule is called ${JSON.stringify(named)}.`,
    );
  if (others.length > 0)
    throw new AlmonerError(
      'ALM_RULE_RUN_AMBIGUOUS',
      `${matching.length} runs begin with ${JSON.stringify(named)}.`,
      {
        details: matching.slice(0, 10).map(({ id, rule, period }) => `${id}: ${rule}, ${period}`),
      },
    );
  return only;
}

export async function putEntries(
  ledger: RealmLedger,
  id: string,
  block: number,
  bytes: Uint8Array,
): Promise<void> {
  const { scripts } = ledger;
  const key = blockKey(ledger, id, block);
  await scripts.retryWhileAway('keep decisions', () => scripts.redis.set(key, Buffer.from(bytes)));
}

/** The members of a run, RUN_BLOCK_MEMBERS at a time; none of a block without the text `having`. */
export async function* readEntries(
  ledger: RealmLedger,
  meta: RunMeta,
  firstBlock = 0,
  having = '',
): AsyncGenerator<RunEntry[], void, undefined> {
  const { scripts } = ledger;
  for (let block = firstBlock; block < meta.blocks; block++) {
    const key = blockKey(ledger, meta.id, block);
    const bytes = await scripts.retryWhileAway('read decisions', () => scripts.redis.getBuffer(key));
    if (bytes === null)
      throw new AlmonerError(
        'ALM_RULE_RUN_NOT_FOUND',
        `The decisions of run ${meta.id} have left the store.`,
      );
    yield decodeEntries(bytes, having);
  }
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
    [cursor, page] = await scripts.retryWhileAway('read facts', () =>
      scripts.redis.hscan(key, cursor || '0', 'COUNT', FACTS_PAGE),
    );
    for (let at = 0; at + 1 < page.length; at += 2) known.set(page[at] ?? '', page[at + 1] ?? '');
  }
  return {
    known,
    async keep(field, value) {
      known.set(field, value);
      await scripts.retryWhileAway('keep fact', () => scripts.redis.hset(key, field, value));
    },
    async drop() {
      await scripts.retryWhileAway('drop facts', () => scripts.redis.unlink(key));
    },
  };
}

/** Plans that nobody ran are kept for a while only; runs for as long as the rule says; unfinished ones stay. */
const PLANS_KEPT = 10;

export async function forgetOldRuns(ledger: RealmLedger, rule: string, keepRuns: number): Promise<void> {
  const runs = (await listRuns(ledger)).filter((run) => run.rule === rule).reverse();
  const ran = runs.filter(({ state }) => state === 'run');
  const others = runs.filter(
    ({ state, batch }) => state !== 'run' && !(state === 'planned' && batch !== null),
  );
  for (const run of [...ran.slice(keepRuns), ...others.slice(PLANS_KEPT)]) await forgetRun(ledger, run);
}

async function forgetRun(ledger: RealmLedger, meta: RunMeta): Promise<void> {
  const { scripts } = ledger;
  await scripts.retryWhileAway('forget run', () => scripts.redis.hdel(runsKey(ledger), meta.id));
  await scripts.retryWhileAway('forget facts', () => scripts.redis.unlink(factsKey(ledger, meta.id)));
  for (let block = 0; block < meta.blocks; block++)
    await scripts.retryWhileAway('forget decisions', () =>
      scripts.redis.unlink(blockKey(ledger, meta.id, block)),
    );
}

/**
 * The number of a run in its rule and period, part of its batch's identity: who was refused, cancelled or undone is
 * paid by the next run, though its orders may be the very same. A run that has one keeps it; a schedule's is its
 * time; any other has a new one only after the batch before it is over, so that the same run given again meets its
 * own batch. The seal keeps it (see moves/seal-batch.lua). Several batches may have one number, of which the last is asked
 * for here: where the orders meet another of them that is over, the next number is taken (see `batchOfRun`).
 */
export async function runNumber(
  ledger: RealmLedger,
  run: Pick<RunMeta, 'rule' | 'period' | 'scheduled' | 'at' | 'number' | 'batch'>,
): Promise<number | null> {
  // With a batch and without a number: made before runs were numbered.
  if (run.number !== null || run.batch !== null) return run.number;
  if (run.scheduled) return run.at;
  const { scripts, keyPrefix } = ledger;
  const account = accountName(run.rule, run.period);
  const last = await scripts.retryWhileAway('read number', () =>
    scripts.redis.hget(`${keyPrefix}:rules:numbers`, account),
  );
  if (last === null) return 1;
  const [number = '', no = ''] = last.split(' ');
  const open = await scripts.retryWhileAway('read batch', () =>
    scripts.redis.sismember(`${keyPrefix}:open`, no),
  );
  return Number(number) + (open === 1 ? 0 : 1);
}
