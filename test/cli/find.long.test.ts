import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { document, textField } from '../support/document.js';
import { almoner, startAlmoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

const told = z.object({
  orders: z.array(z.object({ order: z.string(), by: z.array(z.string()) })),
  more: z.boolean(),
  stopped: z.boolean(),
  rows: z.object({ scanned: z.number(), of: z.number() }),
});
const hits = ({ orders }: z.infer<typeof told>) => orders.map(({ order, by }) => [order, by.join(' ')]);

describe('fifty thousand rows', () => {
  let world: Program;
  let store: TestRedis;
  let place: { readonly cwd: string; readonly env: NodeJS.ProcessEnv };
  let bulk = '';
  beforeAll(async () => {
    store = await startRedis();
    world = await Program.start({ env: { REDIS_URL: store.url } });
    const note = 'a note '.repeat(20);
    const rows = Array.from({ length: 50_000 }, (_, i) => `${7_000_000 + i},5,bulk-${i},${note}${i}`);
    await world.file('bulk.csv', `member,tokens,reference,note\n${rows.join('\n')}\n`);
    place = { cwd: world.folder, env: world.env };
    bulk = textField(await almoner(['import', 'bulk.csv', '--yes', '--json'], place), 'batch');
  }, 120_000);
  afterAll(async () => {
    await world.end();
    await store.stop();
  });

  it('are looked through in less memory than they take', { timeout: 60_000 }, async () => {
    const small = startAlmoner(['find', '7049999', '--json'], {
      ...place,
      nodeArgs: ['--max-old-space-size=40'],
    });
    expect(await small.ended, small.stderr()).toBe(0);
    expect(hits(told.parse(JSON.parse(small.stdout())))).toEqual([[`${bulk}-50000`, 'member']]);
    // What matches every row stops at the limit.
    const many = told.parse(document(await almoner(['find', '5', '--limit', '3', '--json'], place)));
    expect(hits(many)).toEqual([1, 2, 3].map((index) => [`${bulk}-${index}`, 'amount']));
    expect([many.more, many.rows.scanned < 1_000]).toEqual([true, true]);
  });

  it('are left with 130 at Ctrl-C, and what was found by then is told', { timeout: 60_000 }, async () => {
    const redis = store.client();
    await redis.config('RESETSTAT');
    const stopped = startAlmoner(['find', '5', '--limit', '10000', '--json'], place);
    const reads = async () =>
      Number(/cmdstat_hgetall:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
    await until('rows to be looked at', async () => (await reads()) > 30);
    // The store is frozen, so that the scan cannot end before the signal arrives.
    process.kill(store.pid, 'SIGSTOP');
    stopped.child.kill('SIGINT');
    process.kill(store.pid, 'SIGCONT');
    expect(await stopped.ended, stopped.stderr()).toBe(130);
    const { stopped: isStopped, rows } = told.parse(JSON.parse(stopped.stdout()));
    expect([isStopped, rows.of, rows.scanned < 50_000]).toEqual([true, 50_000, true]);
  });
});
