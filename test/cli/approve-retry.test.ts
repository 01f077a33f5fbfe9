import { expect, test } from 'vitest';
import { document, textField } from '../support/document.js';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';

/** A batch is done, with a dead letter, before its realm requires approvals: its retry is asked for and approved. */
test('the retry waits, is shown for what it is, and its total is asked for', async () => {
  const world = await Program.start({ members: [{ member: '1', tokens: 0 }] });
  try {
    await world.file('gift.csv', 'member,tokens\n1,5\n99,70\n');
    const batch = textField(await world.run('run', 'gift.csv', '--yes', '--json'), 'batch');
    const town = { baseUrl: world.realm.url, realmId: 'town', keyEnv: 'ALMONER_API_KEY', approval: {} };
    await world.file('almoner.config.yaml', JSON.stringify({ realms: { town } }));
    const as = new Map<string, NodeJS.ProcessEnv>();
    for (const [name, ...roles] of [
      ['ada', 'operator', 'approver'],
      ['ben', 'approver'],
    ] as const) {
      const asRoles = roles.flatMap((role) => ['--role', role]);
      const added = await world.run('desk', 'token', 'add', name, ...asRoles, '--json');
      as.set(name, { ...world.env, ALMONER_TOKEN: textField(added, 'token') });
    }
    const by = (name: string, ...args: string[]) =>
      almoner(args, { cwd: world.folder, env: as.get(name) ?? {} });
    const nameless = await world.run('dead', 'retry', `${batch}-2`);
    expect([nameless.status, nameless.stderr]).toEqual([3, expect.stringContaining('ALM_PEOPLE_NAMELESS')]);
    expect((await world.run('approve')).stdout).toContain('Nothing waits');
    const refused = await by('ada', 'dead', 'retry', `${batch}-2`, '--reason', 'member was made');
    expect(refused.stdout + refused.stderr).toContain('it needs an approval');
    expect((await world.run('approve')).stdout).toContain('1 dead letter to be retried, asked for by ada');
    expect((await by('ada', 'approve', batch, '--yes')).stderr).toContain('ALM_PEOPLE_SAME');
    const unasked = await by('ben', 'approve', batch);
    expect(unasked.stdout).toContain('1 dead letter, 70 tokens, once they are retried');
    expect(unasked.stdout).toMatch(/Asked for +by ada, .* UTC: member was made/);
    expect(unasked.stdout).toMatch(new RegExp(`${batch}-2: credit 99 70, refused .* after 1 attempt`));
    expect(unasked.stderr).toContain('ALM_CLI_NOT_CONFIRMED');
    const approved = await by('ben', 'approve', batch, '--yes');
    expect(approved.stdout).toContain('Approved. Within three days this dead letter may be retried once');
    expect(approved.stdout).not.toContain('It begins');
    expect(document(await world.run('approve', '--json'))).toEqual({ batches: [] });
    expect((await by('ada', 'dead', 'retry', `${batch}-2`)).status).toBe(0);
  } finally {
    await world.end();
  }
}, 120_000);
