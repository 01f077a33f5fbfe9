import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { findBatch } from '../../src/ledger/read/batches.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { batchFacts } from '../../src/ledger/realm-ledger.js';
import { field, textField } from '../support/document.js';
import { limitedTo, testBatch } from '../support/ledger/ledgers-on-redis.js';
import { begin } from '../support/ledger/order-moves.js';
import { almoner } from '../support/program/almoner.js';
import { Program, type ProgramOptions } from '../support/program/program.js';
import { setStart } from '../support/program/set-start.js';
import { until } from '../support/until.js';

/** A run that no longer owns its batch sends none of it, and does not wait for it. */
async function started(options: ProgramOptions) {
  const world = await Program.start({
    members: Array.from({ length: 3 }, (_, at) => ({ member: String(at + 1), tokens: 0 })),
    profile: { approval: { overTokens: 100 } },
    ...options,
  });
  const add = async (name: string, role: string) =>
    textField(await world.run('desk', 'token', 'add', name, '--role', role, '--json'), 'token');
  const tokens = { ada: await add('ada', 'operator'), ben: await add('ben', 'approver') };
  const as = (name: 'ada' | 'ben', ...args: string[]) =>
    almoner(args, { env: { ...world.env, ALMONER_TOKEN: tokens[name] }, cwd: world.folder });
  const run = () => {
    const one = world.start(['run', 'gift.csv', '--yes', '--json'], { ALMONER_TOKEN: tokens.ada });
    const ends = () => Promise.race([one.ended, sleep(25_000).then(() => 'still running')]);
    return { ...one, ends };
  };
  return { world, as, run };
}

test.each(['ahead', 'missed'])(
  'a run of a paused batch whose set time is %s ends',
  async (time) => {
    const { world, as, run } = await started({});
    try {
      await world.file('gift.csv', 'member,tokens\n1,5\n');
      const at = new Date(Date.now() + 7_200_000).toISOString();
      const batch = textField(await as('ada', 'import', 'gift.csv', '--yes', '--at', at, '--json'), 'batch');
      if (time === 'missed') {
        const redis = new Redis(world.env.REDIS_URL ?? '');
        await setStart(redis, batch, Date.now() - 7_200_000);
        redis.disconnect();
      }
      await as('ada', 'pause', batch);
      expect(await run().ends()).toBe(5);
      expect(await world.appliedCount()).toBe(0);
    } finally {
      await world.end();
    }
  },
  60_000,
);

test('a run ends whose batch was taken back, and approved while the last of it was on its way', async () => {
  const { world, as, run } = await started({ rate: '2/80s', faults: ['latency:1:8000'] });
  try {
    await world.file('gift.csv', 'member,tokens\n1,40\n2,40\n');
    const batch = textField(await as('ada', 'import', 'gift.csv', '--yes', '--json'), 'batch');
    const counts = async () => field(await as('ada', 'status', batch, '--json'), 'counts');
    const going = run();
    await until('the first to leave', async () =>
      JSON.stringify(await counts()).includes('"sending":1') ? true : undefined,
    );
    const ref = await findBatch(world.ledger().scripts, batch);
    const [session = ''] = await batchFacts(ref, 'owner');
    // The run's own second order, had ada paid as much as she may in another terminal meanwhile.
    const ledger = limitedTo(ref.ledger, { overTokens: 10, overRows: null });
    const rows = await new PlanReader(ledger).block(ref.no, 0);
    const second = await begin(testBatch(ledger, ref.no, ref.id, rows), 2, { session: session ?? '' });
    expect(second).toMatchObject({ refusal: 'approval' });
    expect((await as('ben', 'approve', batch, '--yes')).status).toBe(0);
    expect(await counts()).toEqual({ planned: 1, sending: 1 });
    expect(await going.ends()).toBe(5);
    expect(await counts()).toEqual({ planned: 1, paid: 1 });
  } finally {
    await world.end();
  }
}, 120_000);
