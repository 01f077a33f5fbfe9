import { expect, test } from 'vitest';
import { textField } from '../support/document.js';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';

/** The commands themselves. The sender's configuration lets one person pay 100 tokens in 24 hours; ada has another one for her retries. */
test('ada alone pays no more than her limit', async () => {
  const world = await Program.start({
    members: Array.from({ length: 9 }, (_, at) => ({ member: String(at + 1), tokens: 0 })),
  });
  try {
    const town = { baseUrl: world.realm.url, realmId: 'town', keyEnv: 'ALMONER_API_KEY' };
    await world.file(
      'almoner.config.yaml',
      JSON.stringify({ realms: { town: { ...town, approval: { overTokens: 100 } } } }),
    );
    const mine = await world.file('mine.yaml', JSON.stringify({ realms: { town } }));
    const added = await world.run('desk', 'token', 'add', 'ada', '--role', 'operator', '--json');
    const env = { ...world.env, ALMONER_TOKEN: textField(added, 'token') };
    const by = (more: NodeJS.ProcessEnv, ...args: string[]) =>
      almoner(args, { cwd: world.folder, env: { ...env, ...more } });
    const told: unknown[] = [];
    for (let i = 1; i <= 4; i++) {
      await world.file(`gift-${i}.csv`, `member,tokens\n${i},90\n99${i},1\n`);
      const ran = await by({}, 'run', `gift-${i}.csv`, '--yes', '--json');
      const batch = textField(ran, 'batch');
      // She does not know the realm's key.
      const retried = await by(
        { ALMONER_CONFIG: mine, ALMONER_API_KEY: 'no-such-key-0123456789abcdef0123456789' },
        'dead',
        'retry',
        `${batch}-2`,
      );
      const again = await by({}, 'run', `gift-${i}.csv`, '--yes', '--json');
      told.push([
        ran.status,
        retried.status,
        retried.status === 0 ? '' : retried.stderr.slice(0, 200),
        again.status,
      ]);
    }
    const paid = (await world.applied()).reduce((sum, { tokens }) => sum + tokens, 0);
    expect([paid <= 100, paid, told]).toEqual([true, expect.anything(), expect.anything()]);
  } finally {
    await world.end();
  }
}, 120_000);
