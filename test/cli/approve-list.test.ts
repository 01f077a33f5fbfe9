import { expect, test } from 'vitest';
import { textField } from '../support/document.js';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';

test('the list of what waits names the tokens that are left', async () => {
  const w = await Program.start({
    members: Array.from({ length: 9 }, (_, at) => ({ member: String(at + 1), tokens: 0 })),
    profile: { approval: { overTokens: 100 } },
  });
  try {
    const realm = { baseUrl: w.realm.url, realmId: 'town', keyEnv: 'ALMONER_API_KEY' };
    await w.file('plain.yaml', JSON.stringify({ realms: { town: realm } }));
    const token = textField(
      await w.run('desk', 'token', 'add', 'ada', '--role', 'operator', '--json'),
      'token',
    );
    const ben = textField(
      await w.run('desk', 'token', 'add', 'ben', '--role', 'approver', '--json'),
      'token',
    );
    const env = { ...w.env, ALMONER_TOKEN: token };
    const as = (...args: string[]) => almoner(args, { env, cwd: w.folder });
    await w.file('a.csv', 'member,tokens\n1,5000\n2,101\n');
    await as('run', 'a.csv', '--first', '1', '--config', 'plain.yaml', '--yes', '--json');
    expect((await as('run', 'a.csv', '--yes', '--json')).status).toBe(5);
    const list = await almoner(['approve'], { env: { ...w.env, ALMONER_TOKEN: ben }, cwd: w.folder });
    expect(list.stdout).not.toContain('5,101');
  } finally {
    await w.end();
  }
}, 120_000);
