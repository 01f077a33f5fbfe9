import { existsSync } from 'node:fs';
import { z } from 'zod';
import { CERTAINTIES } from '../../src/core/profile.js';
import { planOf } from './draw.js';
import { count, newTally, Simulator, story } from './run.js';
import { isTheme } from './themes.js';

/**
 * One of the processes of `npm run simulate`: plays every so many-th seed until its orders are through, and
 * tells its parent how it goes. It ends at the first history that goes wrong, with the shortest one like it.
 */
const asked = z
  .object({
    seed: z.number(),
    every: z.number(),
    orders: z.number(),
    certainty: z.enum(CERTAINTIES),
    theme: z.string().refine(isTheme).nullable(),
  })
  .parse(JSON.parse(process.argv[2] ?? ''));

const MEMORY = '/dev/shm';
const simulator = await Simulator.start(existsSync(MEMORY) ? MEMORY : undefined);
// Ctrl-C reaches this process as well. Its Redis would stay behind.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void simulator.stop().finally(() => process.exit(130)));
// A message on its way when the parent is gone is no error.
const tell = (message: object) => process.send?.(message, undefined, undefined, () => {});
const tally = newTally();
let failure: string | null = null;
// Without a parent nobody reads what it finds.
const isAsked = () => tally.orders < asked.orders && failure === null && process.connected;
for (let seed = asked.seed; isAsked(); seed += asked.every) {
  const plan = planOf(seed, asked.certainty, asked.theme ?? undefined);
  const judgement = await simulator.play(plan);
  count(tally, plan, judgement);
  tell({ tally });
  const [first] = judgement.faults;
  if (first === undefined) continue;
  const shortest = await simulator.shortest(plan, first.kind);
  failure = `seed ${seed}, ${plan.theme}:\n${story(shortest, await simulator.play(shortest))}`;
  tell({ tally, failure });
}
await simulator.stop();
if (process.connected) process.disconnect?.();
