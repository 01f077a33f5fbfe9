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

/** Payouts while everything breaks in turn; afterwards an auditor adds up the realm's books against the reports. */
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
    // What has piled up is worked off by the same workers; a long run leaves more of it.
    const figures = await settleUp(world, files, rowsPerBatch, faultMaker, 120_000 + options.seconds * 1000);
    if (figures.wrong.length > 0) await keep(world, faultMaker, options);
    return figures;
  } finally {
    await world.end();
  }
}

/** What tells how it came about: journals, the store's append-only file, the realm's log, what the workers said. */
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

/** One file after the other, so that there is always something to pay; `files` learns each batch's id. */
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

/** The person who looks after a rollback: what waits since then goes on. The store may be away. */
async function resumed(world: Program): Promise<void> {
  const audit = { at: Date.now(), who: 'ada', what: 'resumed after a rollback', why: null };
  await resume(world.ledger(), audit).catch(() => {});
}

/**
 * The store may have forgotten whole files, and the journals know some of their rows. Importing such a file again
 * pays nobody twice.
 */
async function batchOf(world: Program, name: string, known: string | null): Promise<BatchRef> {
  const { scripts } = world.ledger();
  const found = known === null ? undefined : await findBatch(scripts, known).catch(() => undefined);
  if (found !== undefined && (await readBatch(found))?.recovered === false) return found;
  await resumed(world);
  let ran = await world.run('import', name, '--yes', '--json');
  // While an order of it is being sent the program says: again in a minute.
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
