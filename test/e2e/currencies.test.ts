import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Program, REALM_ID } from '../support/program/program.js';
import { until } from '../support/until.js';

/** Several currencies in one realm and one profile: each batch is paid in the one that was chosen for it. */
const members = Array.from({ length: 40 }, (_, at) => ({ member: String(at + 1), tokens: 100 }));

let world: Program;
beforeAll(async () => {
  world = await Program.start({
    members,
    certainty: 'idempotent',
    profile: { currencies: ['gold', 'gems'] },
  });
  await world.admin.addCurrencies(REALM_ID, ['gold', 'gems']);
});
afterAll(() => world.end());

function csv(tokens: number, label: string): string {
  const rows = members.slice(0, 10).map(({ member }) => `${member},${tokens},${label}-${member}`);
  return `member,tokens,reference\n${rows.join('\n')}\n`;
}

function writeRule(name: string, ...more: string[]): Promise<string> {
  const lines = [`name: ${name}`, `realm: ${REALM_ID}`, 'period: once', `reason: ${name}`, ...more];
  return world.file(`jobs/${name}.yaml`, lines.join('\n'));
}

async function told(...args: string[]) {
  const { status, stdout } = await world.run(...args, '--json');
  return { status, ...JSON.parse(stdout) };
}

/** How many orders of so many tokens were applied in each currency. */
async function paidIn(tokens: number): Promise<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const one of await world.applied())
    if (one.tokens === tokens) {
      const name = one.currency ?? 'own';
      sums.set(name, (sums.get(name) ?? 0) + 1);
    }
  return Object.fromEntries(sums);
}

describe('a profile that lists currencies', () => {
  test('workers pay each batch in the one that it was sealed with, side by side', async () => {
    const batches: string[] = [];
    for (const [name, ...choice] of [
      ['own'],
      ['gold', '--currency', 'gold'],
      ['gems', '--currency', 'gems'],
    ] as const) {
      await world.file(`${name}.csv`, csv(3, name));
      const made = await told('import', `${name}.csv`, '--yes', ...choice);
      expect(made).toMatchObject({ status: 0, currency: name === 'own' ? null : name });
      batches.push(made.batch);
    }
    const worker = world.start(['worker']);
    for (const batch of batches)
      await until(
        `${batch} to be done`,
        async () => (await told('status', batch)).state === 'done' || undefined,
      );
    worker.child.kill('SIGTERM');
    await worker.ended;
    expect(await paidIn(3)).toEqual({ own: 10, gold: 10, gems: 10 });
    const { stdout } = await world.run('status');
    expect(stdout).toMatch(/in gold/);
    const { orders } = await told('history', '1');
    expect(orders.map(({ currency }: { currency: string | null }) => currency).sort()).toEqual(
      ['gems', 'gold', null].sort(),
    );
  });

  test('takes no other, and says which there are', async () => {
    await world.file('silver.csv', csv(4, 'silver'));
    const refused = await told('run', 'silver.csv', '--yes', '--currency', 'silver');
    expect(refused.status).toBe(3);
    expect(refused.error).toMatchObject({
      code: 'ALM_PLAN_CURRENCY',
      message: expect.stringMatching(
        /pays in the realm’s default currency, currency "gold", currency "gems", and not in currency "silver"/,
      ),
    });
    expect(await paidIn(4)).toEqual({});
  });

  test('a row that names another currency than the run is a fault, and none with the same', async () => {
    await world.file('named.csv', 'member,tokens,currency\n1,6,gold\n2,6,gold\n');
    expect(await told('plan', 'named.csv')).toMatchObject({
      status: 3,
      faults: [{ code: 'ALM_ROW_CURRENCY_OTHER', line: 2 }, { line: 3 }],
    });
    expect(await told('run', 'named.csv', '--yes', '--currency', 'gold')).toMatchObject({ status: 0 });
    expect(await paidIn(6)).toEqual({ gold: 2 });
  });

  test('a batch is taken back in its own, by what members hold of it', async () => {
    await world.file('back.csv', 'member,tokens\n21,50\n22,50\n');
    const { batch } = await told('run', 'back.csv', '--yes', '--currency', 'gold');
    await world.file('spent.csv', 'member,tokens\n21,-45\n');
    expect(await told('run', 'spent.csv', '--yes', '--currency', 'gold')).toMatchObject({ status: 0 });
    const undo = await told('undo', batch, '--take-left');
    expect(undo).toMatchObject({ currency: 'gold', short: [{ member: '21', wanted: '50', balance: '5' }] });
    const { stdout } = await world.run('undo', batch, '--take-left', '--out', 'again.csv');
    expect(stdout).toMatch(/almoner run again\.csv --currency gold/);
    expect(await told('plan', 'again.csv')).toMatchObject({ status: 3 });
    expect(await told('run', 'again.csv', '--yes', '--currency', 'gold')).toMatchObject({ status: 0 });
    const record = (member: string) => told('member', member).then(({ record: { balances } }) => balances);
    expect(await record('21')).toEqual({ default: 100, gold: 0, gems: 0 });
    expect(await record('22')).toEqual({ default: 100, gold: 0, gems: 0 });
  });

  test('what --check reads of members is of the currency that is paid', async () => {
    await world.file('take.csv', 'member,tokens\n31,-20\n');
    expect(await told('plan', 'take.csv', '--check')).toMatchObject({ status: 0 });
    expect(await told('plan', 'take.csv', '--check', '--currency', 'gems')).toMatchObject({
      status: 3,
      faults: [{ code: 'ALM_PLAN_BALANCE_TOO_SMALL', message: expect.stringMatching(/has 0 tokens/) }],
    });
  });

  test('a rehearsal plays the same currency', async () => {
    await world.file('rehearsed.csv', 'member,tokens,currency\n1,7,gold\n2,-7,gold\n');
    const rehearsed = await told('rehearse', 'rehearsed.csv', '--currency', 'gold');
    expect(rehearsed).toMatchObject({ status: 0, currency: 'gold', counts: { paid: 2 } });
    expect(await told('status', rehearsed.batch)).toMatchObject({ state: 'done', reason: null });
    expect(await told('rehearse', 'rehearsed.csv', '--currency', 'silver')).toMatchObject({ status: 3 });
    expect(await paidIn(7)).toEqual({});
  });

  test('a rule pays in the one that it names, and judges by what members hold of it', async () => {
    await writeRule(
      'levy',
      'currency: gold',
      'op: debit',
      'audience: { members: [33, 34] }',
      'award: { tokens: 8, floor: 0 }',
    );
    await world.file('rich.csv', 'member,tokens\n33,9\n');
    expect(await told('run', 'rich.csv', '--yes', '--currency', 'gold')).toMatchObject({ status: 0 });
    const ran = await told('rules', 'run', 'levy', '--yes');
    expect(ran).toMatchObject({ status: 0 });
    expect(await paidIn(8)).toEqual({ gold: 1 });
  });
});

test('a rule’s plan is paid in what it was planned in, or not at all', async () => {
  await writeRule('bonus', 'audience: { members: [35, 36] }', 'award: { tokens: 12 }');
  const planned = await told('rules', 'plan', 'bonus');
  expect(planned).toMatchObject({ status: 0, currency: null });
  const path = join(world.folder, 'almoner.config.yaml');
  const before = await readFile(path, 'utf8');
  const written = JSON.parse(before);
  written.realms[REALM_ID].realmPointId = 'gold';
  await world.file('almoner.config.yaml', JSON.stringify(written));
  const refused = await told('rules', 'run', '--plan', planned.plan, '--yes');
  expect([refused.status, refused.error.code]).toEqual([3, 'ALM_PLAN_CURRENCY']);
  await world.file('almoner.config.yaml', before);
  expect(await paidIn(12)).toEqual({});
  expect(await told('rules', 'run', '--plan', planned.plan, '--yes')).toMatchObject({ status: 0 });
  expect(await paidIn(12)).toEqual({ own: 2 });
});

test('a batch stops when its currency leaves the profile, and goes on when it is back', async () => {
  await world.file('later.csv', csv(11, 'later'));
  const { batch } = await told('import', 'later.csv', '--yes', '--currency', 'gems');
  const written = JSON.parse(await readFile(join(world.folder, 'almoner.config.yaml'), 'utf8'));
  written.realms[REALM_ID].currencies = ['gold'];
  const config = await world.file('less.yaml', JSON.stringify(written));
  const worker = world.start(['worker', '--config', config]);
  await until(
    'it to stand still',
    async () => (await told('status', batch)).reason?.code === 'ALM_BATCH_TERMS_CHANGED' || undefined,
  );
  worker.child.kill('SIGTERM');
  await worker.ended;
  expect((await told('status', batch)).reason.message).toMatch(
    /confirmed for currency gems, and the profile town now says the realm’s default, gold/,
  );
  expect(await paidIn(11)).toEqual({});
  const other = world.start(['worker']);
  await until('it to go on', async () => (await told('status', batch)).state === 'done' || undefined);
  other.child.kill('SIGTERM');
  await other.ended;
  expect(await paidIn(11)).toEqual({ gems: 10 });
});
