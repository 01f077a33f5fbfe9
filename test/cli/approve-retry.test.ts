import { expect, test } from 'vitest';
import { document, textField } from '../support/document.js';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';

/** A batch is done, with a dead letter, before its realm requires a second person: the go that it takes is for the retry. */
test('the retry waits, is shown for what it is, and its total is asked for', async () => {
  const world = await Program.start({ members: [{ member: '1', tokens: 0 }] });
  try {
    await world.file('gift.csv', 'member,tokens\n1,5\n99,70\n');
    const batch = textField(await world.run('run', 'gift.csv', '--yes', '--json'), 'batch');
    const town = { baseUrl: world.realm.url, realmId: 'town', keyEnv: 'ALMONER_API_KEY', approval: {} };
    await world.file('almoner.config.yaml', JSON.stringify({ realms: { town } }));
    const as = new Map<string, NodeJS.ProcessEnv>();
    for (const name of ['ada', 'ben']) {
      const added = await world.run('desk', 'token', 'add', name, '--role', 'approver', '--json');
      as.set(name, { ...world.env, ALMONER_TOKEN: textField(added, 'token') });
    }
    const by = (name: string, ...args: string[]) =>
      almoner(args, { cwd: world.folder, env: as.get(name) ?? {} });
    // Whoever prepares or serves makes the requirement known; here it is somebody who tries.
    await world.run('import', 'gift.csv', '--again', 'x', '--yes');
    expect((await world.run('approve')).stdout).toContain('Nothing waits');
    const refused = await world.run('dead', 'retry', `${batch}-2`);
    expect(refused.stdout + refused.stderr).toContain('requires a second person');
    expect((await world.run('approve')).stdout).toContain(
      '1 dead letter to be retried, prepared by nobody known',
    );
    expect((await by('ada', 'approve', batch, '--yes')).stdout).toContain('one more has to say go');
    const unasked = await by('ben', 'approve', batch);
    expect(unasked.stdout).toContain('1 dead letter, 70 tokens, when somebody retries it');
    expect(unasked.stderr).toContain('ALM_CLI_NOT_CONFIRMED');
    const approved = await by('ben', 'approve', batch, '--yes');
    expect(approved.stdout).toContain('Approved. For three days its 1 dead letter may be retried');
    expect(approved.stdout).not.toContain('It begins');
    expect(document(await world.run('approve', '--json'))).toEqual({ batches: [] });
    expect((await world.run('dead', 'retry', `${batch}-2`)).status).toBe(0);
  } finally {
    await world.end();
  }
}, 120_000);
