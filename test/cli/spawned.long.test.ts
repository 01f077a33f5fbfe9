import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TABLE } from '../../src/cli/frame/table.js';
import { spawned } from '../support/program/almoner.js';
import { Program, REALM_ID } from '../support/program/program.js';

/**
 * Every command once as the process that a person starts: it loads, does its work, prints one document and ends with
 * its status. What each command does in all its cases is tested within the process of the test.
 */
let world: Program;
beforeAll(async () => {
  const members = ['1', '2', '3'].map((member) => ({
    member,
    tokens: 100,
    wallets: [`0x${member.padStart(40, '0')}`],
  }));
  world = await Program.start({ store: 'own', members });
  await world.file('pay.csv', 'member,tokens\n1,5\n2,6\n404,7\n405,8\n');
  await world.file('paid-elsewhere.csv', 'reference\nold-1\n');
  await world.file('later.csv', 'member,tokens\n1,7\n');
  const rule = [`name: thanks`, `realm: ${REALM_ID}`, 'period: month', 'audience: { members: [1, 2] }'];
  await world.file('jobs/thanks.yaml', [...rule, 'award: { tokens: 3 }', 'reason: thanks', ''].join('\n'));
});
afterAll(() => world.end());

/** What was learnt on the way: the batch of the `run`, of the `import`, and the run of the rule. */
const seen = { paid: '', imported: '', rules: '' };

type Step = {
  readonly args: () => readonly string[];
  readonly status: number;
  readonly document: object;
  readonly input: string;
};
const step = (
  args: (() => readonly string[]) | readonly string[],
  status: number,
  document: object,
  input = '',
): Step => ({
  args: typeof args === 'function' ? args : () => args,
  status,
  document,
  input,
});
const refused = (code: string) => ({ error: { code } });

const STEPS: readonly Step[] = [
  step(['init', '--rehearsal'], 0, { realm: null }),
  step(['completion', 'bash'], 0, {}),
  step(['doctor'], 0, {}),
  step(['plan', 'pay.csv'], 0, { rows: 4, faults: [] }),
  step(['plan', '-'], 0, { rows: 1, faults: [] }, 'member,tokens\n1,5\n'),
  step(['rehearse', 'pay.csv'], 0, { rehearsal: true, counts: { paid: 4 } }),
  step(['run', 'pay.csv', '--yes'], 4, { state: 'done', counts: { paid: 2, refused: 2 } }),
  step(['import', 'later.csv', '--yes'], 0, { state: 'planned', rows: 1 }),
  step(['status'], 0, { workers: 0 }),
  step(() => ['pause', seen.imported, '--reason', 'x'], 0, { state: 'paused' }),
  step(() => ['resume', seen.imported], 0, { changed: true }),
  step(() => ['cancel', seen.imported], 0, { state: 'cancelled' }),
  step(() => ['report', seen.paid], 0, { batch: expect.any(String) }),
  step(['history', '1'], 0, {}),
  step(['find', '1', '--by', 'member'], 0, { more: false }),
  step(() => ['undo', seen.paid], 0, {}),
  step(['approve'], 0, { batches: [] }),
  step(['pace'], 0, { realms: [{ configured: null, learnt: null, holdUntil: null, notes: [] }] }),
  step(['dead', 'list'], 0, { orders: [{ member: '404' }, { member: '405' }] }),
  step(() => ['dead', 'show', `${seen.paid}-3`], 0, {}),
  step(() => ['dead', 'discard', `${seen.paid}-4`, '--reason', 'x'], 0, {}),
  step(() => ['dead', 'export', '--batch', seen.paid], 0, {}),
  step(() => ['dead', 'retry', `${seen.paid}-3`], 0, {}),
  step(['doubt', 'list'], 0, { orders: [] }),
  step(() => ['doubt', 'show', `${seen.paid}-1`], 2, refused('ALM_BATCH_CANNOT')),
  step(() => ['doubt', 'raise', `${seen.paid}-1`, '--reason', 'x'], 3, refused('ALM_BATCH_DECISIONS')),
  step(
    () => ['doubt', 'resolve', `${seen.paid}-1`, '--paid', '--reason', 'x'],
    3,
    refused('ALM_BATCH_DECISIONS'),
  ),
  step(['rules', 'list'], 0, {}),
  step(['rules', 'check'], 0, {}),
  step(['rules', 'plan', 'thanks'], 0, { awards: 2, tokens: '6' }),
  step(['rules', 'try', 'thanks', '--member', '1'], 0, {}),
  step(['rules', 'run', 'thanks', '--yes'], 0, { counts: { paid: 2 } }),
  step(() => ['rules', 'explain', seen.rules, '1'], 0, {}),
  step(['rules', 'sync'], 0, {}),
  step(['rules', 'pause', 'thanks', '--reason', 'x'], 2, refused('ALM_RULE_NOT_FOUND')),
  step(['rules', 'resume', 'thanks'], 2, refused('ALM_RULE_NOT_FOUND')),
  step(['rules', 'skip', 'thanks'], 2, refused('ALM_RULE_NOT_FOUND')),
  step(['rules', 'revoke', 'thanks'], 2, refused('ALM_RULE_NOT_FOUND')),
  step(['rules', 'calendar'], 0, { missed: [] }),
  step(['rules', 'dismiss', 'thanks', '--all', '--reason', 'x'], 2, refused('ALM_RULE_NOT_MISSED')),
  step(['references', 'add', 'paid-elsewhere.csv', '--yes'], 0, { marked: 1 }),
  step(['member', '1'], 0, {}),
  step(['wallets', `0x${'1'.padStart(40, '0')}`], 0, { counts: { member: 1 } }),
  step(['desk', 'token', 'add', 'ada', '--role', 'viewer'], 0, {}),
  step(['desk', 'token', 'list'], 0, {}),
  step(['desk', 'token', 'revoke', 'ada'], 0, {}),
  step(['recover'], 0, {}),
  step(['stats'], 0, { by: 'day' }),
  step(['statement', '2026-11'], 0, { month: '2026-11' }),
  step(['verify'], 0, { ties: true }),
  step(['backup', 'kept'], 0, { almonerBackup: 1 }),
  step(['restore', 'kept', '--yes'], 5, refused('ALM_BACKUP_OUTSIDE')),
];

const SERVICES: readonly (readonly string[])[] = [
  ['worker'],
  ['serve', '--port', '0'],
  ['realm', 'serve', '--port', '0', '--realm-id', 'other'],
];

test('each command that ends', async () => {
  for (const { args, status, document, input } of STEPS) {
    const argv = args();
    const ran = await spawned([...argv, '--json'], { cwd: world.folder, env: world.env, input });
    expect({ argv, ...ran }).toMatchObject({ argv, status });
    const printed = JSON.parse(ran.stdout);
    expect({ argv, printed }).toMatchObject({ argv, printed: document });
    if (argv[0] === 'run') seen.paid = printed.batch;
    if (argv[0] === 'import') seen.imported = printed.batch;
    if (argv[1] === 'run') seen.rules = printed.batch;
  }
}, 240_000);

test.each(SERVICES)('%s %s, until it is asked to stop', async (...args) => {
  const service = world.start([...args, '--json']);
  if (service.child.stdout === null || service.child.stderr === null) throw new Error('nothing is piped');
  const lines = createInterface({
    input: args[0] === 'worker' ? service.child.stderr : service.child.stdout,
  });
  await once(lines, 'line');
  service.child.kill('SIGTERM');
  expect(await service.ended, service.stderr()).toBe(0);
});

test('no command of the table is left out', async () => {
  const typed = [...STEPS.map(({ args }) => args()), ...SERVICES].map((argv) => argv.join(' '));
  expect(TABLE.filter(({ name }) => !typed.some((argv) => `${argv} `.startsWith(`${name} `)))).toEqual([]);
});
