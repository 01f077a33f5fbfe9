import { expect, test } from 'vitest';
import { openLibrary, refusalOf } from '../library/open-library.js';
import { Program } from '../support/program/program.js';
import { startRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

const MEMBERS = Array.from({ length: 40 }, (_, index) => ({
  member: String(300_000_000_000_000_000n + BigInt(index)),
  tokens: 0,
}));

test('closing ends also where the store is gone for good, and what was sent is not sent again', async () => {
  const store = await startRedis();
  const world = await Program.start({
    members: MEMBERS,
    env: { REDIS_URL: store.url, ALMONER_RATE: '10/s' },
  });
  try {
    await world.file('almoner.config.yaml', 'limits: {stopMs: 1000}\n');
    const rows = MEMBERS.map(({ member }) => ({ member, tokens: 5, reference: `gone/${member}` }));
    const almoner = await openLibrary(world.env, { cwd: world.folder });
    const gone: Promise<void>[] = [];
    const paying = almoner.pay(
      { rows },
      {
        onProgress: ({ counts }) =>
          void ((counts.paid ?? 0) > 3 && gone.length === 0 && gone.push(store.kill())),
      },
    );
    const refused = refusalOf(paying);
    await until('the store to be gone', () => gone.length > 0);
    await Promise.all(gone);
    await almoner.close();
    expect(await refused).toMatchObject({ code: 'ALM_STORE_UNREACHABLE' });
    await store.restart();
    await using again = await openLibrary(world.env, { cwd: world.folder });
    expect(await again.pay({ rows })).toMatchObject({ existing: true, counts: { paid: MEMBERS.length } });
    expect(await world.applied()).toHaveLength(MEMBERS.length);
  } finally {
    await world.end();
    await store.stop();
  }
});
