import { AlmonerError } from '../core/errors/error.js';
import { notes, type RealmLedger } from '../ledger/index.js';
import { decodeEntries, type RunEntry, type RunMeta, runMeta } from './run-record.js';

/** The runs of a realm's rules, each with its blocks of decisions. */
const runNotes = (ledger: RealmLedger) => notes.stores.rules(ledger, 'runs', runMeta);

export function putRun(ledger: RealmLedger, meta: RunMeta): Promise<void> {
  return runNotes(ledger).put(meta.id, meta);
}

/** Changes a run atomically. `change` returns the new value, or null to leave it. Returns the stored value. */
export async function changeRun(
  ledger: RealmLedger,
  id: string,
  change: (known: RunMeta | null) => RunMeta | null,
): Promise<RunMeta | null> {
  return (await runNotes(ledger).change(id, (known) => change(known) ?? known)).after;
}

/** All runs of a realm, oldest first. */
export async function listRuns(ledger: RealmLedger): Promise<RunMeta[]> {
  return [...(await runNotes(ledger).all()).values()].sort((a, b) => a.startedAt - b.startedAt);
}

/** Finds a run by its id, a unique prefix of it, the batch that was made of it, or `last`. */
export async function findRun(ledger: RealmLedger, named: string, rule?: string): Promise<RunMeta> {
  const runs = (await listRuns(ledger)).filter((run) => rule === undefined || run.rule === rule);
  // If two runs name the same batch, the later one made it: the import of the earlier was cancelled.
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
      { details: matching.slice(0, 10).map(({ id, rule, period }) => `${id}: ${rule}, ${period}`) },
    );
  return only;
}

/** The members of a run, RUN_BLOCK_MEMBERS at a time. Blocks without the text `having` are skipped. */
export async function* readEntries(
  ledger: RealmLedger,
  meta: RunMeta,
  firstBlock = 0,
  having = '',
): AsyncGenerator<RunEntry[], void, undefined> {
  for (let block = firstBlock; block < meta.blocks; block++) {
    const bytes = await notes.ruleRuns.readDecisions(ledger, meta.id, block);
    if (bytes === null)
      throw new AlmonerError(
        'ALM_RULE_RUN_NOT_FOUND',
        `The decisions of run ${meta.id} were deleted: only the newest runs keep them.`,
      );
    yield decodeEntries(bytes, having);
  }
}

/** How many plans without a batch are kept per rule. The rule says how many runs are kept. */
const PLANS_KEPT = 10;

/** Deletes the decisions of old plans and runs. */
export async function forgetOldRuns(ledger: RealmLedger, rule: string, keepRuns: number): Promise<void> {
  const runs = (await listRuns(ledger)).filter((run) => run.rule === rule).reverse();
  const ran = runs.filter(({ state }) => state === 'run');
  const others = runs.filter(
    ({ state, batch }) => state !== 'run' && !(state === 'planned' && batch !== null),
  );
  for (const run of [...ran.slice(keepRuns), ...others.slice(PLANS_KEPT)]) {
    await runNotes(ledger).forget(run.id);
    await notes.ruleRuns.forgetDecisions(ledger, run.id, run.blocks);
  }
}

/**
 * The number of a run in its rule and period. It is part of the batch's identity, so that a later run can pay members
 * who were refused, cancelled or undone, even if its orders are the same. A run keeps its number. A scheduled run's
 * number is its time. Any other run gets a new number only after the batch before it is over, so that repeating a run
 * finds its own batch. The seal stores the number (see moves/seal-batch.lua). Several batches may share a number;
 * here the last one counts. If the orders match another of these batches that is over, the next number is used (see
 * `batchOfRun`).
 */
export async function runNumber(
  ledger: RealmLedger,
  run: Pick<RunMeta, 'rule' | 'period' | 'scheduled' | 'at' | 'number' | 'batch'>,
): Promise<number | null> {
  // A run with a batch but without a number is older than run numbers.
  if (run.number !== null || run.batch !== null) return run.number;
  if (run.scheduled) return run.at;
  const last = await notes.ruleRuns.lastNumber(ledger, run.rule, run.period);
  return last === null ? 1 : last.number + (last.isOpen ? 0 : 1);
}
