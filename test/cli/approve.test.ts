import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { document, textField } from '../support/document.js';
import { almoner, type Ran } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';
import { setStart } from '../support/program/set-start.js';
import { startWorkerBeside } from '../support/program/worker-beside.js';
import { until } from '../support/until.js';

/** Two people at two terminals, each with a token of their own. */
let world: Program;
const tokens = new Map<string, string>();
beforeAll(async () => {
  const members = ['1', '2', '3'].map((member) => ({ member, tokens: 0 }));
  world = await Program.start({ members, profile: { approval: { overTokens: 100, overRows: 50 } } });
  for (const [name, ...roles] of [
    ['ada', 'operator', 'approver'],
    ['ben', 'approver'],
    ['vic', 'viewer'],
    ['olga', 'operator'],
  ] as const) {
    const added = await world.run(
      'desk',
      'token',
      'add',
      name,
      ...roles.flatMap((role) => ['--role', role]),
      '--json',
    );
    tokens.set(name, textField(added, 'token'));
  }
}, 120_000);
afterAll(() => world.end());

function as(name: string, ...args: string[]): Promise<Ran> {
  const env = { ...world.env, ALMONER_TOKEN: tokens.get(name) };
  return almoner(args, { env, cwd: world.folder });
}
const counted = async () => (await world.applied()).length;

describe('a realm that requires a second person', { timeout: 120_000 }, () => {
  test('refuses people without a known token, and viewers', async () => {
    await world.file('large.csv', 'member,tokens\n1,60\n2,70\n');
    const nameless = await world.run('run', 'large.csv', '--yes');
    expect([nameless.status, nameless.stderr]).toEqual([3, expect.stringContaining('ALM_PEOPLE_NAMELESS')]);
    const looking = await as('vic', 'run', 'large.csv', '--yes');
    expect([looking.status, looking.stderr]).toEqual([3, expect.stringContaining('ALM_PEOPLE_ROLE')]);
    const stale = await almoner(['status'], {
      env: { ...world.env, ALMONER_TOKEN: 'almdesk_x' },
      cwd: world.folder,
    });
    expect([stale.status, stale.stderr]).toEqual([2, expect.stringContaining('ALM_PEOPLE_TOKEN')]);
    expect(await counted()).toBe(0);
  });

  test('leaves a run planned, names the second person’s step, and pays after it', async () => {
    const ran = await as('ada', 'run', 'large.csv', '--yes', '--json');
    expect(ran.status).toBe(5);
    const batch = textField(ran, 'batch');
    expect(document(ran)).toMatchObject({
      state: 'planned',
      reason: { code: 'ALM_BATCH_APPROVAL', next: expect.stringContaining(`almoner approve ${batch}`) },
      waiting: [{ why: 'approval', orders: 2, tokens: '130', next: `almoner approve ${batch}` }],
      report: null,
      etaSeconds: null,
    });
    expect((await as('ben', 'approve')).stdout).toMatch(/large\.csv: 2 orders, give 130 .* prepared by ada/);

    const own = await as('ada', 'approve', batch, '--yes');
    expect([own.status, own.stderr]).toEqual([3, expect.stringContaining('ALM_PEOPLE_SAME')]);
    const olga = await as('olga', 'approve', batch, '--yes');
    expect([olga.status, olga.stderr]).toEqual([3, expect.stringContaining('needs approver')]);
    const unasked = await as('ben', 'approve', batch);
    expect([unasked.status, unasked.stderr]).toEqual([2, expect.stringContaining('ALM_CLI_NOT_CONFIRMED')]);
    for (const again of [
      ['run', 'large.csv', '--yes'],
      ['resume', batch],
    ])
      expect((await as('ada', ...again)).status).toBe(5);
    expect(await counted()).toBe(0);

    const approved = await as('ben', 'approve', batch, '--yes');
    expect(approved.status).toBe(0);
    for (const line of [
      /Amounts +give 130/,
      /Prepared +by ada/,
      /Compared +no earlier batch/,
      /To send +2 orders/,
    ])
      expect(approved.stdout).toMatch(line);
    const paid = await as('ada', 'run', 'large.csv', '--yes', '--json');
    expect([paid.status, document(paid)]).toEqual([
      0,
      expect.objectContaining({ state: 'done', counts: { paid: 2 } }),
    ]);
    expect(await counted()).toBe(2);
  });

  test('cannot be avoided by smaller files, a label, or a file prepared with another profile', async () => {
    await world.file('a.csv', 'member,tokens\n3,60\n');
    await world.file('b.csv', 'member,tokens\n3,41\n');
    expect((await as('ada', 'run', 'a.csv', '--yes')).status).toBe(0);
    expect((await as('ada', 'run', 'b.csv', '--yes')).status).toBe(5);
    expect((await as('ada', 'run', 'a.csv', '--yes', '--again', 'more')).status).toBe(5);
    // The profile of this one requires nothing; whoever sends has one that does.
    const realm = { baseUrl: world.realm.url, realmId: 'town', keyEnv: 'ALMONER_API_KEY' };
    await world.file('plain.yaml', JSON.stringify({ realms: { town: realm } }));
    const plain = ['--again', 'plain', '--config', 'plain.yaml', '--json'];
    const batch = textField(await as('ada', 'import', 'b.csv', '--yes', ...plain), 'batch');
    const worker = await startWorkerBeside({ env: world.env, cwd: world.folder });
    onTestFinished(() => worker.stop());
    await until('it to ask', async () => (await as('ben', 'approve')).stdout.includes(batch), 20_000, 500);
    expect(await counted()).toBe(3);
    await as('ada', 'cancel', batch);
    await worker.stop();
    // Another person begins at nothing.
    await world.file('c.csv', 'member,tokens\n2,99\n');
    expect((await as('olga', 'run', 'c.csv', '--yes')).status).toBe(0);
  });

  test('shows the second person the differences from the last file with the same columns', async () => {
    await world.file('week1.csv', 'member,tokens,reference\n1,10,w1-1\n2,20,w1-2\n3,30,w1-3\n');
    await world.file('week2.csv', 'member,tokens,reference\n1,10,w2-1\n2,900,w2-2\n4,40,w2-4\n');
    const first = textField(await as('ada', 'import', 'week1.csv', '--yes', '--json'), 'batch');
    await as('ben', 'approve', first, '--yes');
    expect((await as('ada', 'run', 'week1.csv', '--yes')).status).toBe(0);
    const batch = textField(await as('ada', 'import', 'week2.csv', '--yes', '--json'), 'batch');
    const { stdout } = await as('ben', 'approve', batch, '--yes');
    expect(stdout).toMatch(
      /Compared +with week1\.csv .*: 1 alike, 1 new, 1 with another amount, 1 not here any more/,
    );
    expect(stdout).toContain('credit 2: 20 before, 900 now');
    expect(stdout).toContain('new: credit 4 40');
    expect(stdout).toContain('not here any more: credit 3 30');
    await as('ada', 'cancel', batch);
  });

  test('revoking a token withdraws its unused approvals', async () => {
    await world.file('d.csv', 'member,tokens\n1,500\n');
    const batch = textField(await as('ada', 'import', 'd.csv', '--yes', '--json'), 'batch');
    expect((await as('ben', 'approve', batch, '--yes')).status).toBe(0);
    const revoked = await world.run('desk', 'token', 'revoke', 'ben');
    expect(revoked.stdout).toContain(`Batch ${batch}, which they approved`);
    expect((await as('olga', 'run', 'd.csv', '--yes')).status).toBe(5);
  });
});

describe('a set time', { timeout: 120_000 }, () => {
  test('is shown before the start and in what waits, and the batch begins then', async () => {
    await world.file('later.csv', 'member,tokens\n1,7\n');
    const past = await as('ada', 'import', 'later.csv', '--yes', '--at', '2020-01-01 10:00');
    expect([past.status, past.stderr]).toEqual([3, expect.stringContaining('2020-01-01 10:00 UTC is over')]);
    expect((await as('ada', 'import', 'later.csv', '--yes', '--at', 'noon')).stderr).toContain('got "noon"');
    const at = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+Z$/, 'Z');
    const before = await counted();
    const options = ['--at', at, '--json', '--config', 'plain.yaml'];
    const made = await as('ada', 'import', 'later.csv', '--yes', ...options);
    expect(document(made)).toMatchObject({
      state: 'planned',
      waiting: [
        { why: 'start-time', until: new Date(at).toISOString(), message: expect.stringContaining('UTC') },
      ],
    });
    const redis = new Redis(world.env.REDIS_URL ?? '');
    onTestFinished(() => redis.disconnect());
    const worker = await startWorkerBeside({
      env: { ...world.env, ALMONER_CONFIG: join(world.folder, 'plain.yaml') },
      cwd: world.folder,
    });
    onTestFinished(() => worker.stop());
    // Instead of an hour, the batch waits half a second.
    const startAt = Date.now() + 500;
    await setStart(redis, textField(made, 'batch'), startAt);
    await until('the payment', async () => (await counted()) === before + 1);
    expect(Date.now()).toBeGreaterThanOrEqual(startAt);
    await worker.stop();
  });

  test('that the pace does not reach is warned of', async () => {
    await world.file(
      'many.csv',
      `member,tokens\n${Array.from({ length: 90 }, (_, at) => `${at + 1},1`).join('\n')}\n`,
    );
    const slow = { ...world.env, ALMONER_RATE: '1/min' };
    const options = { env: slow, cwd: world.folder };
    const clock = (inMinutes: number) =>
      new Date(Date.now() + inMinutes * 60_000).toISOString().slice(11, 16);
    const [at, end] = [clock(120), clock(150)];
    const plan = await almoner(['plan', 'many.csv', '--at', at, '--finish-by', end], options);
    expect([plan.status, plan.stdout]).toEqual([0, expect.stringContaining('ALM_PLAN_LATE')]);
    expect(plan.stdout).toMatch(new RegExp(`Begins +\\d{4}-\\d\\d-\\d\\d ${at} UTC`));
  });
});
