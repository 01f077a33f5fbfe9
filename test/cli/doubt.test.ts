import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseFaults } from '../../src/realm/server/faults.js';
import { document, field, textField } from '../support/document.js';
import { Program, REALM_ID } from '../support/program/program.js';

/**
 * Certainty `manual` against a service that applies every change and then cuts the connection: nothing is
 * ever sent again by itself, and only an operator ends a doubt.
 */

let world: Program;
let batch: string;
beforeAll(async () => {
  world = await Program.start({
    members: [
      { member: '1', tokens: 100 },
      { member: '2', tokens: 100 },
    ],
    faults: parseFaults(['reset-after:1']),
    env: { ALMONER_CERTAINTY: 'manual', ALMONER_OPERATOR: 'ada' },
  });
  const rows = ['1,,5,a1', '2,,6,a2', '1,2,7,a3', '2,,8,a4'];
  await world.file('pay.csv', `member,recipient,tokens,reference,op\n${rows.map(withOp).join('\n')}\n`);
  // The longest settle time of those who sent it and of who decides counts.
  await settleWithin(1);
  const ran = await world.run('run', 'pay.csv', '--yes', '--json');
  expect([ran.status, document(ran)]).toMatchObject([4, { state: 'done', counts: { doubt: 4 } }]);
  batch = textField(ran, 'batch');
});
afterAll(() => world.end());

const withOp = (row: string) => `${row},${row.split(',')[1] === '' ? 'credit' : 'transfer'}`;
const order = (index: number) => `${batch}-${index}`;
/** From now on a request is past arriving so long after it was sent. */
const settleWithin = (ms: number) =>
  world.file(
    'almoner.config.yaml',
    `realms: {town: {baseUrl: '${world.realm.url}', realmId: ${REALM_ID}, keyEnv: ALMONER_API_KEY, settleMs: ${ms}}}\n`,
  );
const counts = async () => field(await world.run('status', batch, '--json'), 'counts');

describe('almoner doubt', { timeout: 120_000 }, () => {
  it('lists the doubts with what is known of them', async () => {
    const listed = await world.run('doubt', 'list', '--json');
    expect([listed.status, field(listed, 'orders')]).toMatchObject([
      0,
      [1, 2, 3, 4].map((index) => ({
        order: order(index),
        batch,
        line: index + 1,
        state: 'doubt',
        class: 'ALM_SEND_RESET',
        status: null,
      })),
    ]);
    const person = await world.run('doubt', 'list', '--batch', batch);
    expect(person.stdout).toMatch(/^4 doubts: give 19 · move 7 · net \+19 tokens\n/);
    expect(person.stdout).toContain('Next: almoner doubt show');
  });

  it('leaves doubts out of an undo, and reports how many and why', async () => {
    const told = await world.run('undo', batch, '--out', 'nothing.csv');
    expect([told.status, told.stdout]).toEqual([
      0,
      expect.stringMatching(
        /Left out: 4 rows\.\n {2}4 orders \(give 19 · move 7 · net \+19\), in doubt, paid or not: to be resolved first: /,
      ),
    ]);
    expect(told.stdout).toContain(`Next: almoner doubt list --batch ${batch}`);
    expect(document(await world.run('undo', batch, '--out', 'nothing.csv', '--json'))).toMatchObject({
      ...{ file: null, rows: 0 },
      leftOut: [{ why: 'doubt', orders: 4, tokens: '26', message: expect.stringContaining('in doubt') }],
    });
  });

  it('retry and discard leave a doubt unchanged', async () => {
    for (const args of [['retry'], ['discard', '--reason', 'x']]) {
      const ran = await world.run('dead', ...args, order(1));
      expect([ran.status, ran.stdout]).toEqual([4, expect.stringContaining('it is in doubt')]);
      const all = await world.run('dead', ...args, '--batch', batch);
      expect(all.status).toBe(2);
    }
    expect(await counts()).toEqual({ doubt: 4 });
  });

  it('refuses a decision without a reason, and a contradictory one', async () => {
    for (const args of [
      [order(1), '--paid'],
      [order(1), '--reason', 'x'],
      [order(1), '--paid', '--unpaid', '--reason', 'x'],
      [order(1), '--batch', batch, '--paid', '--reason', 'x'],
      ['--paid', '--reason', 'x'],
    ])
      expect((await world.run('doubt', 'resolve', ...args)).status).toBe(2);
    expect(await counts()).toEqual({ doubt: 4 });
  });

  it('does nothing if one row of a file is wrong, and applies all rows if they are right', async () => {
    await world.run('report', batch);
    const path = join(world.folder, 'reports', batch, 'doubt.csv');
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(lines[0]).toMatch(/,decision$/);
    const decided = (decisions: readonly string[]) =>
      writeFile(
        join(world.folder, 'decided.csv'),
        lines.map((line, i) => `${line}${i === 0 ? '' : decisions[i - 1]}\n`).join(''),
      );
    await decided(['paid', 'perhaps', '', '']);
    const wrong = await world.run('doubt', 'resolve', '--file', 'decided.csv', '--reason', 'x');
    expect([wrong.status, wrong.stderr]).toEqual([3, expect.stringContaining('line 3: decision "perhaps"')]);
    expect(await counts()).toEqual({ doubt: 4 });

    await decided(['paid', 'unpaid', '', '']);
    await settleWithin(1_200_000);
    const early = await world.run('doubt', 'resolve', '--file', 'decided.csv', '--reason', 'x');
    expect([early.status, early.stderr]).toEqual([2, expect.stringContaining('ALM_BATCH_MAY_ARRIVE')]);
    expect(early.stderr).toMatch(new RegExp(`${order(2)} may arrive until .*Z, for another (1\\d|20) min`));
    expect(early.stderr).not.toContain(order(1));
    expect(await counts()).toEqual({ doubt: 4 });
    await settleWithin(1);
    const right = await world.run(
      'doubt',
      'resolve',
      '--file',
      'decided.csv',
      '--reason',
      'seen in the log',
      '--json',
    );
    expect([right.status, document(right)]).toMatchObject([
      0,
      {
        resolved: [
          { order: order(1), state: 'paid' },
          { order: order(2), state: 'exhausted' },
        ],
        batches: [{ state: 'done', counts: { paid: 1, exhausted: 1, doubt: 2 } }],
      },
    ]);
    // The same file once more: it is all as asked.
    const again = await world.run('doubt', 'resolve', '--file', 'decided.csv', '--reason', 'x');
    expect([again.status, again.stderr]).toEqual([
      2,
      expect.stringContaining('2 orders were decided so before, 2 rows have no decision in the file.'),
    ]);
    const other = await world.run('doubt', 'resolve', order(1), '--unpaid', '--reason', 'x');
    expect([other.status, other.stderr]).toEqual([3, expect.stringContaining('is paid, not in doubt')]);
  });

  it('records who, when and why, and sends nothing before a retry, which keeps the key', async () => {
    const shown = await world.run('dead', 'show', order(2), '--json');
    expect(document(shown)).toMatchObject({
      state: 'exhausted',
      class: 'ALM_SEND_SAID_UNPAID',
      evidence: 'operator',
      attempts: 1,
    });
    expect(field(shown, 'history')).toContainEqual(
      expect.objectContaining({
        event: 'concluded',
        by: 'ada',
        message: expect.stringContaining('seen in the log'),
      }),
    );
    const before = await world.applied();
    expect(before).toHaveLength(4);
    // The operator was wrong. The realm knows the key, and does not apply it a second time.
    const retried = await world.run('dead', 'retry', order(2), '--run', '--json');
    expect([retried.status, field(retried, 'batches.0.counts')]).toEqual([4, { paid: 1, doubt: 3 }]);
    expect(field(await world.run('doubt', 'show', order(2), '--json'), 'sent')).toMatchObject({
      key: `${order(2)}.1`,
    });
    expect(await world.applied()).toHaveLength(4);
  });

  it('refuses an old decision about an order that is in doubt again, and shows its current state', async () => {
    const doubt = textField(await world.run('doubt', 'show', order(2), '--json'), 'doubt');
    expect(doubt).toMatch(/^d2-/);
    const monday = await world.run('doubt', 'resolve', '--file', 'decided.csv', '--reason', 'x');
    expect(monday.status).toBe(3);
    expect(monday.stderr).toMatch(
      new RegExp(`${order(2)} is in doubt as ${doubt}; the decision is about its doubt d1-`),
    );
    const bare = await world.run('doubt', 'resolve', order(2), '--unpaid', '--reason', 'x');
    expect([bare.status, bare.stderr]).toEqual([3, expect.stringContaining(`${order(2)}:${doubt}`)]);
    const other = await world.run('doubt', 'resolve', `${order(2)}:d1-0000`, '--unpaid', '--reason', 'x');
    expect(other.status).toBe(3);
    expect(await counts()).toEqual({ paid: 1, doubt: 3 });
  });

  it('ends the batch as paid with the last doubt, and the exit codes follow', async () => {
    expect((await world.run('run', 'pay.csv', '--yes')).status).toBe(4);
    const resolved = await world.run(
      'doubt',
      'resolve',
      '--batch',
      batch,
      '--paid',
      '--reason',
      'support said so',
    );
    expect([resolved.status, resolved.stdout]).toEqual([
      0,
      expect.stringContaining('3 doubts resolved: 3 paid, 0 unpaid. Nothing was sent.'),
    ]);
    expect((await world.run('run', 'pay.csv', '--yes')).status).toBe(0);
    expect(field(await world.run('doubt', 'list', '--json'), 'orders')).toEqual([]);
    const audit = await readFile(join(world.folder, 'reports', batch, 'audit.csv'), 'utf8');
    expect(audit).toContain(`doubt ${order(4)} resolved as paid,support said so`);
    expect(audit).toContain('ada');
    expect(await world.applied()).toHaveLength(4);
    expect(await world.admin.balance(REALM_ID, '1')).toBe(98);
  });

  it('warns that an undo relies on an operator’s decision', async () => {
    const undone = await world.run('undo', batch);
    expect([undone.status, undone.stdout]).toEqual([
      0,
      expect.stringMatching(/4 orders paid only on an operator’s word/),
    ]);
  });

  it('prevents another payment of an order called unpaid too early', async () => {
    await settleWithin(3_600_000);
    await world.file('young.csv', 'member,tokens,reference\n1,5,y1\n2,6,y2\n');
    const young = textField(await world.run('run', 'young.csv', '--yes', '--json'), 'batch');
    await world.file('told.csv', 'member,tokens,reference\n1,5,t1\n2,6,t2\n');
    const told = textField(await world.run('run', 'told.csv', '--yes', '--in-order', '--json'), 'batch');
    const said = await world.run('doubt', 'resolve', '--batch', told, '--unpaid', '--reason', 'x', '--yes');
    expect(said.stdout).toMatch(
      /The realm may still apply 2 of these requests\. You can retry them one by one, the first after \S+Z, the last after \S+Z\.\n[\s\S]*Next: after \S+Z: almoner dead retry --batch/,
    );
    const applied = await world.appliedCount();
    const resolve = (...more: string[]) =>
      world.run('doubt', 'resolve', '--batch', young, '--unpaid', '--reason', 'gone', '--json', ...more);
    expect((await resolve()).status).toBe(2);
    const resolved = await resolve('--yes');
    expect([resolved.status, document(resolved)]).toMatchObject([
      0,
      {
        resolved: [{ state: 'exhausted' }, { state: 'exhausted' }],
        mayArrive: [{ order: `${young}-1`, until: expect.any(String) }, { order: `${young}-2` }],
      },
    ]);

    const retried = await world.run('dead', 'retry', '--batch', young, '--run', '--json');
    expect([retried.status, document(retried)]).toMatchObject([
      4,
      {
        retried: [],
        refused: [{ order: `${young}-1`, why: expect.stringContaining('may still arrive') }, {}],
      },
    ]);
    expect((await world.run('dead', 'show', `${young}-1`)).stdout).toContain('not before');
    await world.run('report', young);
    const failed = await world.run('run', join('reports', young, 'failed.csv'), '--yes', '--json');
    expect([failed.status, field(failed, 'faults')]).toMatchObject([
      3,
      [{ code: 'ALM_ROW_ORDER_MAY_BE_PAID', message: expect.stringContaining('may still arrive') }, {}],
    ]);
    await world.file('again.csv', 'member,tokens,reference\n1,5,y1\n');
    expect(document(await world.run('plan', 'again.csv', '--json'))).toMatchObject({
      duplicates: 1,
      warnings: [{ code: 'ALM_ROW_ORDER_MAY_BE_PAID' }],
    });
    const again = await world.run('run', 'again.csv', '--yes', '--json');
    expect(field(again, 'counts')).toEqual({ duplicate: 1 });
    expect(await world.applied()).toHaveLength(applied);
  });
});
