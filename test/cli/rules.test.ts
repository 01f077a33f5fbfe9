import { mkdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { dataFolders } from '../support/data-folder.js';
import { almoner } from '../support/program/almoner.js';
import { Program, REALM_ID } from '../support/program/program.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { tempFolder } from '../support/temp-folder.js';

const MEMBERS = Array.from({ length: 12 }, (_, index) => ({
  member: String(101 + index),
  tokens: 100 * index,
  wallets: [`0x${String(index).padStart(40, '0')}`],
  web3: index === 5 ? {} : { held: index },
}));
const MEMBER_109 = { member: '109', tokens: 800, wallets: [`0x${'8'.padStart(40, '0')}`], web3: { held: 8 } };
const AUDIENCE = `member,active\n${MEMBERS.map(({ member }, index) => `${member},${index % 2 === 0}`).join('\n')}\n`;

const RULE = (changes: Record<string, string> = {}) =>
  Object.values({
    name: 'name: holders',
    realm: `realm: ${REALM_ID}`,
    period: 'period: month',
    audience: 'audience: { file: audience.csv }',
    condition: 'condition: web3.held > 2',
    award: 'award: { tokens: web3.held * 10, rounding: floor }',
    maxMissing: 'maxMissing: 10%',
    reason: 'reason: Holder bonus',
    ...changes,
  }).join('\n');

const planDocument = z.object({
  plan: z.string(),
  state: z.string(),
  awards: z.number(),
  tokens: z.string(),
  factRequests: z.number(),
  leftOut: z.record(z.string(), z.number()),
  stops: z.array(z.object({ code: z.string() })),
  decisions: z.array(z.object({ member: z.string(), tokens: z.number(), leftOut: z.string().nullable() })),
});
const runDocument = z.object({
  batch: z.string().nullable(),
  plan: z.string(),
  state: z.string(),
  edited: z.boolean(),
  counts: z.record(z.string(), z.number()).optional(),
  tokens: z.record(z.string(), z.string()).optional(),
});
const json = <T>(schema: z.ZodType<T>, { stdout }: { stdout: string }): T => schema.parse(JSON.parse(stdout));

describe('a rule on a realm', () => {
  let world: Program;
  beforeAll(async () => {
    world = await Program.start({ store: 'own', members: MEMBERS });
    await world.file('jobs/audience.csv', AUDIENCE);
  });
  afterAll(() => world.end());

  test('plan says who would get what, and why not, with the calls that the rule names and no others', async () => {
    await world.file('jobs/plan.yaml', RULE({ name: 'name: planned' }));
    world.requests.length = 0;
    const ran = await world.run('rules', 'plan', 'planned', '--json');
    expect(ran.status).toBe(0);
    const plan = json(planDocument, ran);
    expect(plan).toMatchObject({ state: 'planned', awards: 8, tokens: '580', factRequests: 12, stops: [] });
    expect(plan.leftOut).toEqual({ condition: 3, missing: 1 });
    expect([...world.requests].sort()).toEqual(
      MEMBERS.map(({ member }) => `GET /web3/members/${member}`).sort(),
    );
    const words = await world.run('rules', 'plan', 'planned');
    expect(words.stdout).toMatch(/Awards +8 members: give 580 · net \+580 tokens/);
    expect(words.stdout).toMatch(/a fact is missing: 106 \(web3\.held\)/);
    expect(words.stdout).toMatch(/Next: almoner rules run --plan/);
  });

  test('facts of the award are read only for members who meet a condition on the row', async () => {
    await world.file('jobs/row.yaml', RULE({ name: 'name: by-row', condition: 'condition: row.active' }));
    world.requests.length = 0;
    await world.run('rules', 'plan', 'by-row', '--json');
    expect(world.requests).toHaveLength(6);
  });

  test('a plan is paid exactly as planned, without reading again, and an edited rule is said to be one', async () => {
    await world.file('jobs/edited.yaml', RULE({ name: 'name: edited' }));
    const plan = json(planDocument, await world.run('rules', 'plan', 'edited', '--json'));
    await world.file('jobs/edited.yaml', RULE({ name: 'name: edited', award: 'award: { tokens: 9999 }' }));
    world.requests.length = 0;
    const ran = await world.run('rules', 'run', '--plan', plan.plan, '--yes', '--json');
    expect(ran.status).toBe(0);
    expect(ran.stderr).toMatch(/edited after this plan was made.*ALM_RULE_EDITED/);
    const run = json(runDocument, ran);
    expect(run).toMatchObject({
      plan: plan.plan,
      state: 'done',
      edited: true,
      counts: { paid: 8 },
      tokens: { paid: '580' },
    });
    expect(world.requests.filter((request) => request.startsWith('GET'))).toEqual([]);
    const again = json(runDocument, await world.run('rules', 'run', '--plan', plan.plan, '--yes', '--json'));
    expect(again.batch).toBe(run.batch);
    expect(world.requests.filter((request) => request.startsWith('PATCH'))).toHaveLength(8);
  });

  test('a second run in the period pays no member twice, even if the amounts have changed', async () => {
    await world.file('jobs/twice.yaml', RULE({ name: 'name: twice' }));
    expect((await world.run('rules', 'run', 'twice', '--yes', '--json')).status).toBe(0);
    await world.file(
      'jobs/twice.yaml',
      RULE({ name: 'name: twice', award: 'award: { tokens: 77 }', condition: '' }),
    );
    const ran = await world.run('rules', 'run', 'twice', '--yes', '--json');
    // The four who got nothing before get the new award; the others keep what they have.
    expect(json(runDocument, ran)).toMatchObject({
      state: 'done',
      counts: { paid: 4 },
      tokens: { paid: '308' },
    });
    const third = await world.run('rules', 'run', 'twice', '--yes', '--json');
    expect(json(runDocument, third)).toMatchObject({ state: 'nothing', batch: null });
    expect(third.status).toBe(0);
  });

  test('explain shows a decision with the facts recorded at that time', async () => {
    await world.file('jobs/frozen.yaml', RULE({ name: 'name: frozen' }));
    const run = json(runDocument, await world.run('rules', 'run', 'frozen', '--yes', '--json'));
    await world.realm.admin.putMembers(REALM_ID, [{ ...MEMBER_109, web3: { held: 1 } }], 'keep');
    const explained = await world.run('rules', 'explain', run.plan, '109');
    expect(explained.stdout).toMatch(/web3\.held > 2 {2}→ held/);
    expect(explained.stdout).toMatch(/web3 {7}\{"held":8\}/);
    expect(explained.stdout).toMatch(/web3\.held \* 10 {2}→ 80/);
    expect(explained.stdout).toMatch(/80 tokens/);
    const byBatch = await world.run('rules', 'explain', run.batch ?? '', '102', '--json');
    expect(JSON.parse(byBatch.stdout)).toMatchObject({ leftOut: 'condition', facts: { web3: { held: 1 } } });
    const tried = await world.run('rules', 'try', 'frozen', '--member', '109', '--at', '2031-01-01');
    expect(tried.stdout).toMatch(/did not hold/);
    const nobody = await world.run('rules', 'explain', 'last', '999');
    expect(nobody.status).toBe(2);
    expect(nobody.stderr).toMatch(/ALM_RULE_NOT_IN_RUN/);
    await world.realm.admin.putMembers(REALM_ID, [MEMBER_109], 'keep');
  });

  test('a limit stops the run before anything is paid, and its plan cannot be run', async () => {
    await world.file('jobs/limit.yaml', RULE({ name: 'name: limited', limits: 'limits: { perRun: 579 }' }));
    world.requests.length = 0;
    const ran = await world.run('rules', 'run', 'limited', '--yes', '--json');
    expect(ran.status).toBe(3);
    const plan = json(planDocument, ran);
    expect(plan).toMatchObject({ state: 'stopped', stops: [{ code: 'ALM_RULE_OVER_LIMIT' }] });
    const forced = await world.run('rules', 'run', '--plan', plan.plan, '--yes');
    expect(forced.status).toBe(3);
    expect(forced.stderr).toMatch(/ALM_RULE_PLAN_UNUSABLE/);
    expect(world.requests.some((request) => request.startsWith('PATCH'))).toBe(false);
  });

  test('a plan is checked against its period’s limit again when it is run', async () => {
    const rule = (condition: string) =>
      RULE({
        name: 'name: shared',
        condition,
        award: 'award: { tokens: 10 }',
        limits: 'limits: { perPeriod: 90 }',
      });
    await world.file('jobs/shared.yaml', rule('condition: row.active'));
    const even = json(planDocument, await world.run('rules', 'plan', 'shared', '--json'));
    await world.file('jobs/shared.yaml', rule('condition: "!row.active"'));
    const odd = json(planDocument, await world.run('rules', 'plan', 'shared', '--json'));
    expect([even.tokens, odd.tokens]).toEqual(['60', '60']);
    expect((await world.run('rules', 'run', '--plan', even.plan, '--yes', '--json')).status).toBe(0);
    const second = await world.run('rules', 'run', '--plan', odd.plan, '--yes');
    expect(second.status).toBe(3);
    expect(second.stderr).toMatch(
      /limit of 90 for 20.*of which 60 is paid or reserved: 60 more.*ALM_RULE_OVER_LIMIT|ALM_RULE_OVER_LIMIT.*limit of 90 for 20.*of which 60 is paid or reserved: 60 more/,
    );
    // Who was paid is passed over, whatever the rule would give now.
    await world.file('jobs/shared.yaml', rule('condition: row.active').replace('tokens: 10', 'tokens: 11'));
    expect(json(planDocument, await world.run('rules', 'plan', 'shared', '--json')).leftOut).toMatchObject({
      already: 6,
    });
  });

  test('wallets are checked in chunks; a member who is not in the realm is left out and not read', async () => {
    const rows = MEMBERS.map(
      ({ member, wallets }, index) => `${member},${index === 3 ? `0x${'f'.repeat(40)}` : wallets[0]}`,
    );
    await world.file('jobs/wallets.csv', `member,wallet\n${rows.join('\n')}\n`);
    await world.file(
      'jobs/wallets.yaml',
      RULE({ name: 'name: wallets', audience: 'audience: { file: wallets.csv, checkWallets: true }' }),
    );
    world.requests.length = 0;
    const plan = json(planDocument, await world.run('rules', 'plan', 'wallets', '--json'));
    expect(plan.leftOut).toMatchObject({ wallet: 1 });
    expect(world.requests.filter((request) => request === 'GET /members/includes')).toHaveLength(1);
    expect(world.requests).toHaveLength(12);
  });

  test('nothing is sent without a confirmation', async () => {
    await world.file('jobs/asks.yaml', RULE({ name: 'name: asks' }));
    world.requests.length = 0;
    const ran = await world.run('rules', 'run', 'asks');
    expect(ran.status).toBe(2);
    expect(ran.stderr).toMatch(/ALM_CLI_NOT_CONFIRMED/);
    expect(world.requests.some((request) => request.startsWith('PATCH'))).toBe(false);
  });

  test('a rule for another realm is refused by name', async () => {
    await world.file('jobs/other.yaml', RULE({ name: 'name: other', realm: 'realm: embedded' }));
    const ran = await world.run('rules', 'plan', 'other');
    expect(ran.status).toBe(2);
    expect(ran.stderr).toMatch(/ALM_RULE_REALM.*"embedded", which is not configured/);
  });
});

describe('on a fresh machine', () => {
  const dataFolder = dataFolders();
  let store: TestRedis;
  beforeAll(async () => {
    store = await startRedis();
  });
  afterAll(() => store.stop());

  test.each(['weekly', 'holders', 'pot', 'penalty'])(
    'the sample %s is planned and paid on the embedded realm without any configuration',
    async (name) => {
      const folders = { ALMONER_DATA: await dataFolder(), ALMONER_REPORTS: await tempFolder() };
      // One of them also starts a store of its own.
      const env = name === 'weekly' ? folders : { ...folders, REDIS_URL: store.url };
      const run = await almoner(['rules', 'run', `jobs/${name}.yaml`, '--yes', '--json'], {
        env,
        cwd: process.cwd(),
      });
      expect(run.status).toBe(0);
      const { counts = {}, state } = json(runDocument, run);
      expect(state).toBe('done');
      expect(Object.keys(counts)).toEqual(['paid']);
    },
  );

  test('check needs neither store nor realm, and tells faults with line and column', async () => {
    const folder = await tempFolder();
    await mkdir(`${folder}/jobs`);
    await writeFile(`${folder}/jobs/bad.yaml`, 'name: bad\nrealm: x\nperiod: weekly\n');
    const ran = await almoner(['rules', 'check', '--json'], { cwd: folder });
    expect(ran.status).toBe(3);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      files: [{ file: 'jobs/bad.yaml', rule: 'bad', ok: false }],
      faults: expect.arrayContaining([
        expect.objectContaining({ line: 3, column: 9, code: 'ALM_RULE_FIELD' }),
      ]),
    });
  });
});
