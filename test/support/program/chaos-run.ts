import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Certainty } from '../../../src/core/profile.js';
import { findBatch, readBatch } from '../../../src/ledger/read/batches.js';
import type { BatchRef } from '../../../src/ledger/realm-ledger.js';
import { resume } from '../ledger/resume.js';
import { until } from '../until.js';
import { auditByContent, doubtsByReason } from './auditor.js';
import { dice, FaultMaker } from './fault-maker.js';
import { onBadNetwork, Program } from './program.js';
import { uniqueRows } from './unique-rows.js';

/** Pays out while everything breaks in turn. Afterwards an auditor compares the realm's records with the reports. */
export type ChaosOptions = {
  readonly seed: number;
  readonly seconds: number;
  readonly certainty: Certainty;
  readonly workers: number;
  readonly rowsPerBatch: number;
  readonly freezeMaxMs: number;
  readonly say: (line: string) => void;
};

export type ChaosFigures = {
  readonly orders: number;
  readonly batches: number;
  readonly states: Record<string, number>;
  readonly applied: number;
  readonly faults: Record<string, number>;
  readonly doubts: Record<string, number>;
  readonly wrong: readonly string[];
};

const BATCHES_MAX = 200;

export async function chaosRun(options: ChaosOptions): Promise<ChaosFigures> {
  const { rowsPerBatch, say } = options;
  const members = uniqueRows(rowsPerBatch * BATCHES_MAX).seeds;
  const world = await Program.start(
    onBadNetwork({
      certainty: options.certainty,
      members,
      realmProcess: true,
      faults: ['latency:0.5:40', 'error-after:0.01', 'reset-after:0.01'],
    }),
  );
  try {
    const random = dice(options.seed);
    const faultMaker = new FaultMaker(world, random, options.workers, options.freezeMaxMs);
    await faultMaker.begin();
    const end = performance.now() + options.seconds * 1000;
    const files = new Map<string, string | null>();
    const importing = importUntil(world, files, rowsPerBatch, () => performance.now() > end);
    while (performance.now() < end) {
      await sleep(100 + random() * 500);
      await faultMaker.strike();
    }
    await importing;
    await faultMaker.relent();
    say(`faults are over after ${options.seconds} s: ${JSON.stringify(faultMaker.faults)}`);
    // The same workers finish the backlog, and a longer run leaves a longer one.
    const figures = await settleUp(world, files, rowsPerBatch, faultMaker, 120_000 + options.seconds * 1000);
    if (figures.wrong.length > 0) await keep(world, faultMaker, options);
    return figures;
  } finally {
    await world.end();
  }
}

/** Keeps the evidence of a failure: journals, the store's append-only file, the realm's log, the workers' output. */
async function keep(world: Program, faultMaker: FaultMaker, { seed, say }: ChaosOptions): Promise<void> {
  const folder = process.env.CHAOS_KEEP;
  if (folder === undefined) return say('set CHAOS_KEEP to a folder to keep what tells how this came about');
  const kept = join(folder, `chaos-${seed}`);
  await cp(world.folder, kept, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  await cp(world.store.folder, join(kept, 'store'), { recursive: true });
  await writeFile(join(kept, 'applied.json'), JSON.stringify(await world.applied()));
  await writeFile(join(kept, 'strikes.txt'), faultMaker.log.join('\n'));
  for (const [i, words] of faultMaker.words().entries())
    await writeFile(join(kept, `worker-${i}.txt`), words);
  say(`kept in ${kept}`);
}

/** Imports one file after the other, so that there is always something to pay; `files` collects the batch ids. */
async function importUntil(
  world: Program,
  files: Map<string, string | null>,
  rows: number,
  over: () => boolean,
): Promise<void> {
  while (!over() && files.size < BATCHES_MAX) {
    const name = `file-${files.size}.csv`;
    await world.file(name, uniqueRows(rows, files.size * rows).csv);
    files.set(name, null);
    while (!over() && files.get(name) === null) {
      await resumed(world);
      const ran = await world.run('import', name, '--yes', '--json');
      if (ran.status === 0) files.set(name, String(JSON.parse(ran.stdout).batch));
    }
    await sleep(rows * MS_A_ROW);
  }
}

const MS_A_ROW = 10;

/** Resumes what waits for a person after a rollback. The store may be unreachable. */
async function resumed(world: Program): Promise<void> {
  const audit = { at: Date.now(), who: 'ada', what: 'resumed after a rollback', why: null };
  await resume(world.ledger(), audit).catch(() => {});
}

/**
 * Finds the batch of a file. The store may have forgotten the file while journals know some of its rows. Importing it
 * again pays no row twice.
 */
async function batchOf(world: Program, name: string, known: string | null): Promise<BatchRef> {
  const { scripts } = world.ledger();
  const found = known === null ? undefined : await findBatch(scripts, known).catch(() => undefined);
  if (found !== undefined && (await readBatch(found))?.recovered === false) return found;
  await resumed(world);
  let ran = await world.run('import', name, '--yes', '--json');
  // While an order of the batch is being sent, the program asks to retry in a minute.
  for (let tries = 0; tries < 20 && ran.status !== 0 && ran.stdout.includes('ALM_BATCH_CANNOT'); tries++) {
    await sleep(1_000);
    ran = await world.run('import', name, '--yes', '--json');
  }
  if (ran.status !== 0) throw new Error(`${name} was not taken in: ${ran.stderr}\n${ran.stdout}`);
  return findBatch(scripts, String(JSON.parse(ran.stdout).batch));
}

async function settleUp(
  world: Program,
  files: ReadonlyMap<string, string | null>,
  rowsPerBatch: number,
  faultMaker: FaultMaker,
  patienceMs: number,
): Promise<ChaosFigures> {
  const states: Record<string, number> = {};
  const wrong: string[] = [];
  const doubts: Record<string, number> = {};
  const batches: BatchRef[] = [];
  for (const [name, known] of files) batches.push(await batchOf(world, name, known));
  for (const ref of batches)
    await until(
      `batch ${ref.id} to be done: ${faultMaker.lastWords()}`,
      async () => {
        await resumed(world);
        return (await readBatch(ref))?.state === 'done';
      },
      patienceMs,
    );
  const applied = await world.applied();
  for (const ref of batches) {
    const ran = await world.run('report', ref.id, '--json');
    if (ran.status !== 0) throw new Error(`no report of ${ref.id}: ${ran.stderr}`);
    const reports = join(world.folder, 'reports');
    const verdicts = await auditByContent(applied, reports, ref.id);
    add(states, verdicts.states);
    add(doubts, await doubtsByReason(reports, ref.id));
    wrong.push(...verdicts.wrong);
  }
  return {
    orders: files.size * rowsPerBatch,
    batches: files.size,
    states,
    applied: applied.length,
    faults: faultMaker.faults,
    doubts,
    wrong,
  };
}

function add(sums: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + count;
}
