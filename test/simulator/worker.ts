import { existsSync } from 'node:fs';
import { z } from 'zod';
import { CERTAINTIES } from '../../src/core/profile.js';
import { planOf } from './draw.js';
import { count, newTally, Simulator, story } from './run.js';
import { isTheme } from './themes.js';

/**
 * One of the processes of `npm run simulate`. It plays every n-th seed until its number of orders is reached, and
 * reports its progress to its parent. It stops at the first failing history, and reduces it to the shortest one that
 * fails alike.
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
// Ctrl-C reaches this process as well; without this handler its Redis would keep running.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void simulator.stop().finally(() => process.exit(130)));
// Sending to a parent that has just ended is not an error.
const tell = (message: object) => process.send?.(message, undefined, undefined, () => {});
const tally = newTally();
let failure: string | null = null;
// Without a parent no process reads the findings.
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
