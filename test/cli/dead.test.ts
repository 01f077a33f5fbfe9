import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { document, field, textField } from '../support/document.js';
import { almoner } from '../support/program/almoner.js';
import { Program, REALM_ID } from '../support/program/program.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

/** The dead letters, from the command line, against a realm service that does not know every member. */

let store: TestRedis;
let world: Program;
beforeAll(async () => {
  store = await startRedis();
  world = await Program.start({
    members: [{ member: '1', tokens: 100 }],
    env: { REDIS_URL: store.url },
  });
});
afterAll(async () => {
  await world.end();
  await store.stop();
});

async function pay(name: string, rows: readonly string[]) {
  await world.file(name, `member,tokens,reference\n${rows.join('\n')}\n`);
  const ran = await world.run('run', name, '--yes', '--json');
  return { status: ran.status, batch: textField(ran, 'batch') };
}

describe('almoner dead', { timeout: 120_000 }, () => {
  it('retries equal rows of two files once, though all of them are named', async () => {
    const batches: string[] = [];
    for (const [name, members] of [
      ['six.csv', [881, 882, 883, 884, 885, 886]],
      ['seven.csv', [881, 882, 883, 884, 885, 886, 887]],
    ] as const) {
      await world.file(name, `member,tokens\n${members.map((member) => `${member},10\n`).join('')}`);
      batches.push(textField(await world.run('run', name, '--yes', '--json'), 'batch'));
    }
    const joined = [881, 882, 883, 884, 885, 886, 887].map((n) => ({ member: String(n), tokens: 0 }));
    await world.admin.putMembers(REALM_ID, joined, 'keep');
    const orders = batches.flatMap((batch, i) => joined.slice(0, 6 + i).map((_, at) => `${batch}-${at + 1}`));
    const retried = await world.run('dead', 'retry', ...orders, '--run', '--json');
    expect(document(retried)).toMatchObject({
      retried: [...orders.slice(0, 6), `${batches[1]}-7`],
      refused: orders.slice(6, 12).map((order, i) => ({
        order,
        why: expect.stringContaining(`the same row is order ${batches[0]}-${i + 1} by now`),
      })),
    });
    const paid = (await world.applied())
      .map(({ member }) => Number(member))
      .filter((n) => n > 880 && n < 888);
    expect(paid.sort()).toEqual([881, 882, 883, 884, 885, 886, 887]);
    await world.run('dead', 'discard', ...orders.slice(6, 12), '--reason', 'paid by the other file');
  });

  it('lists, shows and retries what was refused, under a new key', async () => {
    const { status, batch } = await pay('first.csv', ['1,5,a1', '901,6,a2', '902,7,a3']);
    expect(status).toBe(4);

    const listed = await world.run('dead', 'list', '--batch', batch, '--json');
    expect([listed.status, document(listed)]).toMatchObject([
      0,
      {
        orders: [
          {
            order: `${batch}-2`,
            batch,
            line: 3,
            op: 'credit',
            member: '901',
            recipient: null,
            tokens: 6,
            state: 'refused',
            class: 'ALM_REFUSED_NOT_FOUND',
            status: 404,
            message: expect.any(String),
            marks: [],
            attempts: 1,
            reference: 'a2',
          },
          { order: `${batch}-3` },
        ],
      },
    ]);
    const person = await world.run('dead', 'list', '--class', 'ALM_REFUSED_NOT_FOUND', '--state', 'refused');
    expect(person.stdout).toMatch(/^2 dead letters: give 13 · net \+13 tokens\n/);
    expect(person.stdout).toContain(`Next: almoner dead show ${batch}-2`);
    expect(field(await world.run('dead', 'list', '--state', 'exhausted', '--json'), 'orders')).toEqual([]);
    expect((await world.run('dead', 'list', '--class', 'nonsense')).status).toBe(2);

    const shown = await world.run('dead', 'show', `${batch.slice(0, 8)}-2`);
    expect(shown.stdout).toContain(`key ${batch}-2.1`);
    expect(shown.stdout).toContain(`almoner dead retry ${batch}-2`);
    expect(document(await world.run('dead', 'show', `${batch}-2`, '--json'))).toMatchObject({
      order: `${batch}-2`,
      history: [{ event: 'attempt', status: 404, phase: 'done', requestId: expect.any(String) }],
      next: expect.any(Array),
    });
    const nowhere = await world.run('dead', 'show', `${batch}-99`);
    expect([nowhere.status, nowhere.stderr]).toEqual([
      2,
      expect.stringContaining('ALM_BATCH_ORDER_NOT_FOUND'),
    ]);

    await world.admin.putMembers(REALM_ID, [{ member: '901', tokens: 0 }], 'keep');
    const retried = await world.run('dead', 'retry', `${batch}-2`, '--run', '--reason', 'joined', '--json');
    // The other one is still dead, so the batch as a whole is not all paid.
    expect([retried.status, document(retried)]).toMatchObject([
      4,
      { retried: [`${batch}-2`], refused: [], batches: [{ state: 'done', counts: { paid: 2, refused: 1 } }] },
    ]);
    const keys = (await world.applied()).map(({ idempotencyKey }) => idempotencyKey);
    expect(keys).toContain(`${batch}-2.2`);
    const audit = await readFile(join(world.folder, 'reports', batch, 'audit.csv'), 'utf8');
    expect(audit).toContain(`retried ${batch}-2,joined`);
  });

  it('hands a retried batch to the workers, and warns if there are none', async () => {
    const { batch } = await pay('second.csv', ['1,5,b1', '911,6,b2']);
    await world.admin.putMembers(REALM_ID, [{ member: '911', tokens: 0 }], 'keep');
    const retried = await world.run('dead', 'retry', '--batch', batch, '--class', 'ALM_REFUSED_NOT_FOUND');
    expect([retried.status, retried.stdout]).toEqual([0, expect.stringContaining('NO WORKER IS RUNNING')]);
    expect(retried.stdout).toContain('1 order is back to work');
    const undo = await world.run('undo', batch);
    expect([undo.status, undo.stderr]).toEqual([
      2,
      expect.stringMatching(/NO WORKER IS RUNNING for realm \w+.* Get it on: almoner worker, or stop it/),
    ]);
    // It waits since it was handed over, whoever else comes and goes.
    const since = async () => textField(await world.run('status', batch, '--json'), 'waiting.0.since');
    const handed = await since();
    expect(Date.parse(handed)).toBeGreaterThan(
      Date.parse(textField(await world.run('status', batch, '--json'), 'startedAt')),
    );
    await pay('other.csv', ['1,1,b3']);
    await world.run('recover');
    expect(await since()).toBe(handed);
    const again = await world.run('dead', 'retry', `${batch}-2`);
    expect([again.status, again.stdout]).toEqual([
      4,
      expect.stringContaining('it is planned, not a dead letter'),
    ]);

    const worker = await world.worker();
    onTestFinished(() => worker.stop());
    await until('the worker to pay it', async () => {
      const status = await world.run('status', batch, '--json');
      return field(status, 'state') === 'done' && field(status, 'counts.paid') === 2;
    });
    await worker.stop();
  });

  it('never retries what was discarded, and hides it', async () => {
    const { batch } = await pay('third.csv', ['1,5,c1', '921,6,c2']);
    expect((await world.run('dead', 'discard', `${batch}-2`)).status).toBe(2);
    const discarded = await world.run('dead', 'discard', `${batch}-2`, '--reason', 'left us', '--json');
    expect([discarded.status, document(discarded)]).toEqual([0, { discarded: [`${batch}-2`], refused: [] }]);
    const retried = await world.run('dead', 'retry', `${batch}-2`, '--json');
    expect([retried.status, document(retried)]).toMatchObject([
      4,
      {
        retried: [],
        refused: [{ order: `${batch}-2`, why: 'it was discarded', code: 'ALM_BATCH_NOT_RETRIED' }],
      },
    ]);
    const batchwide = await world.run('dead', 'retry', '--batch', batch);
    expect([batchwide.status, batchwide.stderr]).toEqual([
      2,
      expect.stringContaining('1 discarded left alone'),
    ]);
    const list = (...more: string[]) => world.run('dead', 'list', '--batch', batch, '--json', ...more);
    expect(field(await list(), 'orders')).toEqual([]);
    expect(field(await list('--all'), 'orders')).toMatchObject([{ state: 'refused', marks: ['discarded'] }]);
    const shown = await world.run('dead', 'show', `${batch}-2`);
    expect(shown.stdout).toMatch(/discarded by .*: left us/);
    expect((await world.run('dead', 'discard', `${batch}-1`, '--reason', 'paid one')).status).toBe(4);
  });

  it('refuses to retry a row that was put into another file', async () => {
    const { batch } = await pay('fourth.csv', ['1,5,d1', '931,6,d2']);
    const exported = await world.run('dead', 'export', '--batch', batch, '--out', 'mend.csv', '--json');
    expect([exported.status, document(exported)]).toMatchObject([0, { batch, rows: 1 }]);
    const csv = await readFile(join(world.folder, 'mend.csv'), 'utf8');
    expect(csv).toContain('member,tokens,reference,almoner_order,almoner_state');
    expect(csv).toContain(`931,6,d2,${batch}-2,refused`);
    const taken = await world.run('dead', 'export', '--batch', batch, '--out', 'mend.csv');
    expect([taken.status, taken.stderr]).toEqual([2, expect.stringContaining('ALM_BATCH_FILE_EXISTS')]);

    await writeFile(join(world.folder, 'mend.csv'), csv.replace('931,6', '1,6'));
    expect((await world.run('run', 'mend.csv', '--yes')).status).toBe(0);
    const retried = await world.run('dead', 'retry', '--batch', batch);
    expect([retried.status, retried.stdout]).toEqual([
      4,
      expect.stringContaining('its row was put into another file'),
    ]);
    const nothing = await world.run('dead', 'export', '--batch', batch, '--json');
    expect(document(nothing)).toEqual({ batch, file: null, rows: 0 });
  });

  it('refuses to retry an order whose reference was spent again', async () => {
    const { batch } = await pay('fifth.csv', ['1,5,e1', '941,6,e2']);
    expect((await pay('instead.csv', ['1,6,e2'])).status).toBe(0);
    await world.admin.putMembers(REALM_ID, [{ member: '941', tokens: 0 }], 'keep');
    const retried = await world.run('dead', 'retry', `${batch}-2`, '--run');
    expect([retried.status, retried.stdout]).toEqual([
      4,
      expect.stringContaining('its reference was spent again by another order'),
    ]);
    expect(await world.admin.balance(REALM_ID, '941')).toBe(0);
  });

  it('stops where the realm was paid under another address since, until that is said to be meant', async () => {
    const { batch } = await pay('sixth.csv', ['951,6,f1', '952,7,f2']);
    await world.admin.putMembers(REALM_ID, [{ member: '951', tokens: 0 }], 'keep');
    await world.admin.putMembers(REALM_ID, [{ member: '952', tokens: 0 }], 'keep');
    const url = world.env.ALMONER_REALM_URL?.replace('127.0.0.1', 'localhost') ?? '';
    const there = { cwd: world.folder, env: { ...world.env, ALMONER_REALM_URL: url } };
    const paid = await almoner(['run', 'sixth.csv', '--yes', '--new-address'], there);
    expect(paid.status, paid.stderr).toBe(0);

    const retry = (...more: string[]) => world.run('dead', 'retry', '--batch', batch, '--run', ...more);
    const stopped = await retry();
    expect([stopped.status, stopped.stderr]).toEqual([3, expect.stringContaining(`${url} (2 orders paid`)]);
    expect(stopped.stderr).toMatch(/ALM_PLAN_OTHER_ADDRESS.*--new-address/s);
    expect(await world.admin.balance(REALM_ID, '951')).toBe(6);
    const left = await world.run('dead', 'list', '--batch', batch, '--json');
    expect(field(left, 'orders')).toHaveLength(2);

    const meant = await retry('--new-address', '--reason', 'two clubs');
    expect(meant.status, meant.stderr).toBe(0);
    expect(await world.admin.balance(REALM_ID, '951')).toBe(12);
    const audit = await readFile(join(world.folder, 'reports', batch, 'audit.csv'), 'utf8');
    expect(audit).toContain(`two clubs; new address: the realm was paid before at ${url}`);
  });

  it('requires an exact selection', async () => {
    for (const args of [
      ['dead', 'retry'],
      ['dead', 'retry', 'x-1', '--batch', 'x'],
      ['dead', 'retry', 'x-1', '--class', 'ALM_REFUSED_OTHER'],
      ['dead', 'retry', 'not an order'],
      ['dead', 'export'],
    ])
      expect([args.join(' '), (await world.run(...args)).status]).toEqual([args.join(' '), 2]);
  });
});
