import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startRedis } from '../support/redis-server.js';
import { play } from './history.js';
import { FAULTS, type FaultKind, type Judgement } from './judge.js';
import { faultsIn, type Plan } from './moves.js';
import { shrink, tell } from './shrink.js';

/** A Redis server and a folder of its own, in which histories are played one after the other. */
export class Simulator {
  private constructor(
    private readonly redis: Redis,
    private readonly folder: string,
    private readonly end: () => Promise<void>,
  ) {}

  /** Nothing here needs to survive a crash, so `parent` may lie in memory. */
  static async start(parent = tmpdir()): Promise<Simulator> {
    const folder = mkdtempSync(join(parent, 'almoner-sim-'));
    const path = join(folder, 'redis.sock');
    const server = await startRedis(['--appendonly', 'no', '--unixsocket', path]);
    const redis = new Redis({ path, maxRetriesPerRequest: null });
    return new Simulator(redis, folder, async () => {
      redis.disconnect();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });
  }

  stop(): Promise<void> {
    return this.end();
  }

  play(plan: Plan): Promise<Judgement> {
    return play(plan, this.redis, join(this.folder, 'h'));
  }

  /** The shortest history with the same kind of fault. */
  shortest(plan: Plan, kind: FaultKind): Promise<Plan> {
    return shrink(plan, async (shorter) =>
      (await this.play(shorter)).faults.some((fault) => fault.kind === kind),
    );
  }
}

export type Tally = { orders: number; histories: number; faults: number } & Record<FaultKind, number>;

export function newTally(): Tally {
  return { orders: 0, histories: 0, faults: 0, twice: 0, lost: 0, wrong: 0, unnamed: 0, broken: 0 };
}

export function count(tally: Tally, plan: Plan, judgement: Judgement): void {
  tally.orders += judgement.orders;
  tally.histories += 1;
  tally.faults += faultsIn(plan.moves);
  for (const kind of FAULTS) tally[kind] += judgement.faults.filter((fault) => fault.kind === kind).length;
}

/** The history in the form of test/simulator/found.test.ts, and its faults. */
export function story({ moves, ...shape }: Plan, { faults }: Judgement): string {
  const shown = faults.slice(0, 5).map(({ kind, what }) => `  ${kind}: ${what}`);
  const more = faults.length > shown.length ? [`  and ${faults.length - shown.length} more`] : [];
  return [JSON.stringify(shape), ...moves.map((move) => `  ${tell(move)},`), ...shown, ...more].join('\n');
}
