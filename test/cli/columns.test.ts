import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { document } from '../support/document.js';
import { Program } from '../support/program/program.js';

const ANN = '119283746501928374';
const BEN = '119283746501928375';
const WALLETS = ['0x52908400098527886E0F7030069857D2E4169EE7', '0x8617E340B3D01FA5F11F306F4090FD50E238070D'];

let world: Program;
beforeAll(async () => {
  world = await Program.start({
    members: [
      { member: ANN, tokens: 100, wallets: [WALLETS[0] ?? ''] },
      { member: BEN, tokens: 100 },
    ],
    profile: { columns: { reason: 'Wofür' } },
  });
});
afterAll(() => world.end());

describe('what is said of a header', { timeout: 120_000 }, () => {
  const WEEK = (points: number) =>
    `Wer,Gabe,Wofür,Name\n${ANN},${points},thanks,Ann\n${BEN},${points},thanks,Ben\n`;

  it('is offered by what the columns hold', async () => {
    await world.file('one.csv', WEEK(5));
    const refused = await world.run('plan', 'one.csv');
    expect(refused.status).toBe(3);
    expect(refused.stdout + refused.stderr).toContain('--map member=Wer');
    expect(refused.stdout + refused.stderr).toContain('--map tokens=Gabe');
  });

  it('a plan shows it, with the first orders in words, and keeps nothing', async () => {
    const plan = await world.run('plan', 'one.csv', '--map', 'member=Wer', '--map', 'tokens=Gabe');
    expect(plan.status, plan.stderr).toBe(0);
    expect(plan.stdout).toContain(
      'member from "Wer" (as you say), tokens from "Gabe" (as you say), reason from "Wofür" (as the realm’s profile says)',
    );
    expect(plan.stdout).toContain('not used: "Name"');
    expect(plan.stdout).toContain(`give 5 to ${ANN} · give 5 to ${BEN}`);
    expect((await world.run('plan', 'one.csv')).status).toBe(3);
  });

  it('is kept with a batch, applied to next week’s file without a new option, and shown', async () => {
    const paid = await world.run('run', 'one.csv', '--map', 'member=Wer', '--map', 'tokens=Gabe', '--yes');
    expect(paid.status, paid.stderr).toBe(0);
    await world.file('two.csv', WEEK(6));
    const next = await world.run('plan', 'two.csv');
    expect(next.status, next.stdout).toBe(0);
    expect(next.stdout).toMatch(/member from "Wer" \(kept\).* said on .*--forget-map deletes it/);
    expect(document(await world.run('plan', 'two.csv', '--json'))).toMatchObject({
      columns: {
        kept: { who: expect.any(String) },
        found: [{ name: 'Wer', meaning: 'member', by: 'kept' }, {}, {}, {}],
      },
      firstOrders: [`give 6 to ${ANN}`, `give 6 to ${BEN}`],
    });
    const rehearsed = await world.run('rehearse', 'two.csv');
    expect(rehearsed.status, rehearsed.stderr).toBe(0);
  });

  it('is not kept by a rehearsal', async () => {
    await world.file('rehearsed.csv', `User ID,points,Foo\n${ANN},5,900\n`);
    expect((await world.run('rehearse', 'rehearsed.csv', '--map', 'tokens=Foo')).status).toBe(0);
    expect((await world.run('plan', 'rehearsed.csv')).stdout).toContain(`give 5 to ${ANN}`);
  });

  it('is offered so that a shell takes it as it stands', async () => {
    await world.file('odd.csv', `User ID,XP \`touch x\` $HOME it's\n${ANN},5\n`);
    const refused = await world.run('plan', 'odd.csv');
    expect(refused.stdout + refused.stderr).toContain("--map 'tokens=XP `touch x` $HOME it'\\''s'");
  });

  it('is forgotten when that is asked for', async () => {
    expect((await world.run('plan', 'two.csv', '--forget-map')).status).toBe(3);
    expect((await world.run('plan', 'two.csv')).status).toBe(3);
  });

  it('a title above the header is found, and the line kept with its header', async () => {
    await world.file('titled.csv', `Week 46,,\nUser ID,Points,Team\n${ANN},7,red\n`);
    const refused = await world.run('plan', 'titled.csv');
    expect(refused.stdout + refused.stderr).toContain('--header-line 2');
    expect((await world.run('run', 'titled.csv', '--header-line', '2', '--yes')).status).toBe(0);
    await world.file('next.csv', `Week 47,,\n\nUser ID,Points,Team\n${ANN},8,red\n`);
    const next = await world.run('plan', 'next.csv');
    expect(next.status, next.stdout).toBe(0);
    expect(next.stdout).toContain('header on line 3');
  });
});

describe('paying by wallet', { timeout: 120_000 }, () => {
  it('applies the table, seals its hash, and names the members', async () => {
    await world.file('table.csv', `member,wallet\n${ANN},${WALLETS[0]}\n${BEN},${WALLETS[1]}\n`);
    await world.file('by-wallet.csv', `Wallet,Points\n${WALLETS[0]?.toLowerCase()},50\n${WALLETS[1]},60\n`);
    const without = await world.run('plan', 'by-wallet.csv');
    expect(without.stdout + without.stderr).toContain('--members FILE');
    const plan = await world.run('plan', 'by-wallet.csv', '--members', 'table.csv');
    expect(plan.status, plan.stdout).toBe(0);
    expect(plan.stdout).toContain('member from "Wallet" (by the table of members)');
    expect(plan.stdout).toMatch(/Members by +table\.csv \([0-9a-f]{16}\)/);
    expect(plan.stdout).toContain(`give 50 to ${ANN} · give 60 to ${BEN}`);
  });

  it('--check asks the realm for the wallets too', async () => {
    const checked = await world.run('plan', 'by-wallet.csv', '--members', 'table.csv', '--check');
    expect(checked.status).toBe(3);
    expect(checked.stdout + checked.stderr).toContain(
      `has no member with the wallet ${WALLETS[1]}, which table.csv gives to ${BEN} on line 3`,
    );
    expect(checked.stdout + checked.stderr).not.toContain(`wallet ${WALLETS[0]?.toLowerCase()}`);
  });

  it('pays the members of the table, and not again under a corrected one', async () => {
    const before = await world.appliedCount();
    const paid = await world.run('run', 'by-wallet.csv', '--members', 'table.csv', '--yes', '--json');
    expect(paid.status, paid.stderr).toBe(0);
    expect(
      (await world.applied())
        .slice(before)
        .map(({ member }) => member)
        .sort(),
    ).toEqual([ANN, BEN]);
    await world.file('table.csv', `member,wallet\n${BEN},${WALLETS[0]}\n${ANN},${WALLETS[1]}\n`);
    const again = await world.run('run', 'by-wallet.csv', '--members', 'table.csv', '--yes');
    expect(again.status).toBe(3);
    expect(again.stdout + again.stderr).toContain('ALM_PLAN_LOOKS_PAID');
    expect(await world.appliedCount()).toBe(before + 2);
  });

  it('a table that cannot be used says its own line', async () => {
    await world.file('bad-table.csv', `member,wallet\n1.19E+18,${WALLETS[0]}\n`);
    const refused = await world.run('plan', 'by-wallet.csv', '--members', 'bad-table.csv');
    expect(refused.status).toBe(3);
    expect(refused.stdout + refused.stderr).toContain('bad-table.csv, line 2:');
    expect((await world.run('plan', 'by-wallet.csv', '--members', 'none.csv')).status).toBe(3);
  });
});
