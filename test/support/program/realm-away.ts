import { realmState } from '../../../src/ledger/read/realm-state.js';
import { until } from '../until.js';
import { onBadNetwork, Program, type ProgramOptions } from './program.js';
import { uniqueRows } from './unique-rows.js';

/**
 * The realm's process is killed, and its address refuses connections: nothing was sent, so nothing is known
 * against any order. The certainty is manual and the realm honours no key: a second payment would show.
 */
export async function openMortalRealm(rows: number, more: Partial<ProgramOptions> = {}) {
  const world = await Program.start(
    onBadNetwork({
      certainty: 'manual',
      realmProcess: true,
      members: uniqueRows(rows).seeds,
      profile: { attempts: { max: 3, backoffMs: 10, backoffMaxMs: 60000 } },
      ...more,
    }),
  );
  await world.file('pay.csv', uniqueRows(rows).csv);
  return {
    world,

    async leave(): Promise<void> {
      await world.stopRealm();
      await world.realmNet.shut();
    },

    async comeBack(): Promise<void> {
      await world.startRealm();
      await world.realmNet.reopen();
    },

    breakerOpens: (stderr: () => string) =>
      until(
        `the breaker to open: ${stderr()}`,
        async () => (await realmState(world.ledger())).breakerSince ?? undefined,
        60_000,
      ),

    /** Until it has been asked in vain so many times. */
    async probes(count: number): Promise<void> {
      const { scripts, keyPrefix } = world.ledger();
      const turns = new Set<string | null>();
      await until(
        'probes in vain',
        async () => {
          turns.add(await scripts.redis.hget(keyPrefix, 'probeAt'));
          return turns.size > count;
        },
        30_000,
      );
    },
  };
}
