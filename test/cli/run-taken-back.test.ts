import { expect, test } from 'vitest';
import { textField } from '../support/document.js';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';

/** Imported by a process without limits; the run's own profile makes the batch wait for an approval. */
test.each([
  ['before any of it was sent', 0],
  ['after a part of it was sent', 1],
])(
  'a run ends where its batch is taken back %s, and goes on once it is approved',
  async (_, sent) => {
    const world = await Program.start({
      members: Array.from({ length: 9 }, (_, at) => ({ member: String(at + 1), tokens: 0 })),
      profile: { approval: { overTokens: 100 } },
    });
    try {
      const town = { baseUrl: world.realm.url, realmId: 'town', keyEnv: 'ALMONER_API_KEY' };
      await world.file('plain.yaml', JSON.stringify({ realms: { town } }));
      await world.file('gift.csv', 'member,tokens\n1,60\n2,101\n');
      const add = (name: string, role: string) =>
        world.run('desk', 'token', 'add', name, '--role', role, '--json');
      const tokens = {
        ada: textField(await add('ada', 'operator'), 'token'),
        ben: textField(await add('ben', 'approver'), 'token'),
      };
      const as = (name: 'ada' | 'ben', ...args: string[]) =>
        almoner(args, { env: { ...world.env, ALMONER_TOKEN: tokens[name] }, cwd: world.folder });
      const plain = ['gift.csv', '--config', 'plain.yaml', '--json', '--yes'];
      const made = await (sent === 0
        ? as('ada', 'import', ...plain)
        : as('ada', 'run', '--first', '1', ...plain));
      const batch = textField(made, 'batch');
      const run = await as('ada', 'run', 'gift.csv', '--yes');
      expect(run.status).toBe(5);
      expect(run.stdout + run.stderr).toContain('approval of a person other than ada');
      expect(await world.applied()).toHaveLength(sent);
      expect((await as('ben', 'approve', batch, '--yes')).status).toBe(0);
      expect((await as('ada', 'run', 'gift.csv', '--yes')).status).toBe(0);
      expect((await world.applied()).map(({ tokens: paid }) => paid)).toEqual([60, 101]);
    } finally {
      await world.end();
    }
  },
  120_000,
);
