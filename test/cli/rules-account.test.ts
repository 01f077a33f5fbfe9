import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { almoner } from '../support/program/almoner.js';
import { Program, REALM_ID } from '../support/program/program.js';

/** What a rule may pay in a period, whichever way its orders come; and that its next run pays who was not paid. */
let world: Program;
beforeAll(async () => {
  world = await Program.start({ store: 'own' });
});
afterAll(() => world.end());

const ran = z.object({
  batch: z.string().nullable(),
  state: z.string(),
  counts: z.record(z.string(), z.number()).default({}),
  existing: z.boolean().optional(),
});

const run = (...args: string[]) => almoner(args, { env: world.env, cwd: world.folder });

const SIXTY = 'award: { tokens: 60 }';
const LIMITED = `${SIXTY}\nlimits: { perPeriod: 120 }`;
const POT = 'award: { share: { pot: 120, weight: "1" } }';

async function document(...args: string[]) {
  const { status, stdout, stderr } = await run(...args, '--json');
  return { status, stderr, ...ran.parse(JSON.parse(stdout)) };
}

async function rule(name: string, members: readonly string[], award = SIXTY): Promise<void> {
  const audience = `audience: { members: [${members.join(', ')}] }`;
  const lines = [`name: ${name}`, `realm: ${REALM_ID}`, 'period: month', audience, 'reason: x', award];
  await world.file(`jobs/${name}.yaml`, lines.join('\n'));
}

const enrol = (...members: string[]) =>
  world.realm.admin.putMembers(
    REALM_ID,
    members.map((member) => ({ member, tokens: 100 })),
    'keep',
  );

/** 60 paid, 60 refused; then another 60 paid: the limit of 120 is used up, and the refused one could be paid now. */
async function usedUp(name: string, first: number, award = LIMITED): Promise<{ batch: string }> {
  const [paid = '', refused = '', later = ''] = [first, first + 1, first + 2].map(String);
  await enrol(paid, later);
  await rule(name, [paid, refused], award);
  const one = await document('rules', 'run', name, '--yes');
  expect(one.counts).toEqual({ paid: 1, refused: 1 });
  await rule(name, [paid, later], award);
  expect((await document('rules', 'run', name, '--yes')).counts).toEqual({ paid: 1 });
  await enrol(refused);
  return { batch: one.batch ?? '' };
}

const balance = (member: number) => world.realm.admin.balance(REALM_ID, String(member));

describe('the account of a rule and its period', () => {
  const overLimit = (name: string) =>
    new RegExp(
      `the rule ${name} has a limit of 120 for 20\\d\\d-\\d\\d, of which 120 is paid or reserved: 60 more would pass it`,
    );

  test('a pot is not passed by retrying a dead letter, and the refusal says which limit', async () => {
    const { batch } = await usedUp('shared', 231, POT);
    const retried = await run('dead', 'retry', '--batch', batch, '--run');
    expect(await balance(232)).toBe(100);
    expect([retried.status, retried.stdout]).toEqual([4, expect.stringMatching(overLimit('shared'))]);
  });

  test('perPeriod is passed neither by a retry nor by failed.csv, and has back what was undone', async () => {
    const { batch } = await usedUp('limited', 201);
    const retry = () => run('dead', 'retry', '--batch', batch, '--run');
    const refused = await retry();
    expect([refused.status, refused.stdout]).toEqual([4, expect.stringMatching(overLimit('limited'))]);
    // With the reference of its row, and without.
    const failed = join(world.folder, 'reports', batch, 'failed.csv');
    const bare = join(world.folder, 'bare.csv');
    await writeFile(bare, (await readFile(failed, 'utf8')).replace(/rule:limited:[^,]*/, ''));
    const ran = await run('run', failed, '--yes');
    expect([ran.status, ran.stderr + ran.stdout]).toEqual([
      3,
      expect.stringContaining('ALM_RULE_OVER_LIMIT'),
    ]);
    const without = await run('run', bare, '--yes');
    expect([without.status, without.stderr + without.stdout]).toEqual([
      3,
      expect.stringContaining('ALM_ROW_REFERENCE_OTHER'),
    ]);
    expect(await balance(202)).toBe(100);

    const undo = join(world.folder, 'undo.csv');
    expect((await run('undo', batch, '--out', undo)).status).toBe(0);
    expect((await document('run', undo, '--yes')).counts).toEqual({ paid: 1 });
    expect(await balance(201)).toBe(100);
    const retried = await retry();
    expect(await balance(202), retried.stdout).toBe(160);
    expect((await document('rules', 'run', 'limited', '--yes')).status).toBe(3);
    expect(await balance(201)).toBe(100);
    // With a higher limit the next run of the rule pays the remaining member; the refusals left nothing behind.
    await rule('limited', ['201', '202', '203'], `${SIXTY}\nlimits: { perPeriod: 180 }`);
    expect((await document('rules', 'run', 'limited', '--yes')).counts).toEqual({ paid: 1 });
    expect([await balance(201), await balance(202)]).toEqual([160, 160]);
  });
});

describe('a rule whose orders equal those of an earlier batch', () => {
  test('pays who was refused by its next run', async () => {
    await rule('refused', ['301', '302']);
    const first = await document('rules', 'run', 'refused', '--yes');
    expect(first.counts).toEqual({ refused: 2 });
    await enrol('301', '302');
    const second = await document('rules', 'run', 'refused', '--yes');
    expect(second).toMatchObject({ state: 'done', counts: { paid: 2 }, existing: false });
    expect(second.batch).not.toBe(first.batch);
    expect(await document('rules', 'run', 'refused', '--yes')).toMatchObject({ state: 'nothing' });
    expect([await balance(301), await balance(302)]).toEqual([160, 160]);
  });

  test('pays who was cancelled, and who was undone', async () => {
    await enrol('311', '312');
    await rule('cancelled', ['311', '312']);
    const first = await document('rules', 'run', 'cancelled', '--yes', '--import');
    expect((await run('cancel', first.batch ?? '')).status).toBe(0);
    const second = await document('rules', 'run', 'cancelled', '--yes');
    expect(second.counts).toEqual({ paid: 2 });
    const file = join(world.folder, 'undo2.csv');
    expect((await run('undo', second.batch ?? '', '--out', file)).status).toBe(0);
    expect((await document('run', file, '--yes')).counts).toEqual({ paid: 2 });
    expect((await document('rules', 'run', 'cancelled', '--yes')).counts).toEqual({ paid: 2 });
    expect([await balance(311), await balance(312)]).toEqual([160, 160]);
  });

  test('pays them also while another batch of the period is open', async () => {
    await enrol('331', '332', '333');
    await rule('beside', ['331', '332']);
    const handed = (name: string) => document('rules', 'run', name, '--yes', '--import');
    const first = await handed('beside');
    await rule('beside', ['331', '332', '333']);
    const other = await handed('beside');
    expect(other.counts).toEqual({ planned: 1 });
    const batches = [first.batch];
    for (const _ of [1, 2]) {
      expect((await run('cancel', batches.at(-1) ?? '')).status).toBe(0);
      const next = await handed('beside');
      expect(next).toMatchObject({ state: 'planned', counts: { planned: 2 }, existing: false });
      batches.push(next.batch);
    }
    expect(new Set(batches).size).toBe(3);
    expect(await handed('beside')).toMatchObject({ state: 'nothing' });
  }, 120_000);

  test('of two terminals with the same plan, the later meets the living batch of the earlier', async () => {
    await enrol('341', '342', '343');
    await rule('twice', ['341', '342']);
    const cancelled = await document('rules', 'run', 'twice', '--yes', '--import');
    await rule('twice', ['341', '342', '343']);
    await document('rules', 'run', 'twice', '--yes', '--import');
    await run('cancel', cancelled.batch ?? '');
    const plans = [
      await run('rules', 'plan', 'twice', '--json'),
      await run('rules', 'plan', 'twice', '--json'),
    ];
    const [one, two] = plans.map(
      ({ stdout }) => z.object({ plan: z.string() }).parse(JSON.parse(stdout)).plan,
    );
    const made = await document('rules', 'run', '--plan', one ?? '', '--yes', '--import');
    expect(made).toMatchObject({ counts: { planned: 2 }, existing: false });
    const met = await document('rules', 'run', '--plan', two ?? '', '--yes', '--import');
    expect(met).toMatchObject({ batch: made.batch, state: 'planned', existing: true });
  });

  test('resumes the same run when it is given again', async () => {
    await enrol('321', '322', '323');
    await rule('resumed', ['321', '322', '323']);
    const first = await document('rules', 'run', 'resumed', '--yes', '--first', '1');
    expect(first).toMatchObject({ state: 'paused', counts: { paid: 1, planned: 2 } });
    const second = await document('rules', 'run', 'resumed', '--yes');
    expect(second).toMatchObject({ batch: first.batch, existing: true, state: 'done', counts: { paid: 3 } });
  });
});
