import { realmState } from '../../../src/ledger/read/realm-state.js';
import { until } from '../until.js';
import { onBadNetwork, Program, type ProgramOptions } from './program.js';
import { uniqueRows } from './unique-rows.js';

/**
 * Kills the realm's process, so that its address refuses connections. Nothing was sent, so no order has an uncertain
 * outcome. The certainty is manual and the realm honours no key, so a second payment would show.
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

    /** Waits until the realm's address has refused that many connections. */
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
