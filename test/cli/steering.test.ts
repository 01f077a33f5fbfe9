import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { batchId, memberId } from '../../src/core/ids.js';
import { tokens } from '../../src/core/points.js';
import { openBatch } from '../../src/ledger/moves/import-batch.js';
import { blockClaims, putBlock } from '../../src/ledger/moves/put-block.js';
import { encodePlanBlock, type PlanRow } from '../../src/ledger/plan-block.js';
import { allLedgers } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { document, field, textField } from '../support/document.js';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

/** Pause, resume and cancel, while workers, runs and halted realms are about. */

/** Slow enough that a batch is still being paid when somebody stops it. */
const RATE = '20/s';
let store: TestRedis;
let world: Program;
beforeAll(async () => {
  store = await startRedis();
  world = await Program.start({
    members: [{ member: '1', tokens: 100 }],
    env: { REDIS_URL: store.url, ALMONER_RATE: RATE, ALMONER_OPERATOR: 'ada' },
  });
});
afterAll(async () => {
  await world.end();
  await store.stop();
});

const rowsOf = (name: string, count: number) =>
  `member,tokens,reference\n${Array.from({ length: count }, (_, i) => `1,1,${name}-${i}\n`).join('')}`;
const status = (batch: string) => world.run('status', batch, '--json');
async function imported(name: string, count: number): Promise<string> {
  await world.file(`${name}.csv`, rowsOf(name, count));
  return textField(await world.run('import', `${name}.csv`, '--yes', '--json'), 'batch');
}

describe('almoner pause, resume, cancel', { timeout: 240_000 }, () => {
  it('stop and move the workers, and say what happens to what is being sent', async () => {
    const batch = await imported('paused', 300);
    const worker = await world.worker();
    onTestFinished(() => worker.stop());
    await until('some to be paid', async () => (await world.appliedCount()) >= 5, 60_000);
    const paused = await world.run('pause', batch, '--reason', 'wrong amounts', '--json');
    expect([paused.status, document(paused)]).toMatchObject([
      0,
      { batch, state: 'paused', changed: true, reason: { code: 'ALM_BATCH_PAUSED' } },
    ]);
    await until('what is being sent to finish', async () => {
      const counts = field(await status(batch), 'counts');
      return typeof counts === 'object' && counts !== null && !('sending' in counts);
    });
    const applied = await world.appliedCount();
    expect(applied).toBeLessThan(300);
    const again = await world.run('pause', batch);
    expect([again.status, again.stdout]).toEqual([0, expect.stringContaining('stands still already')]);
    expect(again.stdout).toContain('Nothing is being sent.');
    expect(await world.applied()).toHaveLength(applied);

    const resumed = await world.run('resume', batch, '--json');
    expect([resumed.status, document(resumed)]).toMatchObject([0, { state: 'running', workers: 1 }]);
    await until('it to go on', async () => (await world.appliedCount()) > applied + 2, 60_000);
    const busy = await world.run('resume', batch);
    expect([busy.status, busy.stdout]).toEqual([0, expect.stringContaining('is already being worked')]);

    const cancelled = await world.run('cancel', batch, '--reason', 'wrong file');
    expect([cancelled.status, cancelled.stdout]).toEqual([
      0,
      expect.stringContaining('any reference they have is free again'),
    ]);
    await worker.stop();
    const end = await status(batch);
    expect([field(end, 'state'), field(end, 'counts.paid')]).toEqual([
      'cancelled',
      await world.appliedCount(),
    ]);
    for (const verb of ['pause', 'resume']) {
      const ran = await world.run(verb, batch);
      expect([verb, ran.status, ran.stderr]).toEqual([verb, 2, expect.stringContaining('ALM_BATCH_CANNOT')]);
    }
    // Only what was paid keeps its reference.
    await world.file('again.csv', rowsOf('paused', 300).replace('reference\n', 'reference\n1,1,one more\n'));
    const planned = await world.run('plan', 'again.csv', '--json');
    expect(field(planned, 'duplicates')).toBe(field(end, 'counts.paid'));
    await world.run('report', batch);
    const audit = await readFile(join(world.folder, 'reports', batch, 'audit.csv'), 'utf8');
    for (const entry of ['paused,wrong amounts', 'resumed,', 'cancelled,wrong file'])
      expect(audit).toContain(entry);
  });

  it('resume hands a run whose process was killed to the workers, and says when there are none', async () => {
    await world.file('killed.csv', rowsOf('killed', 20));
    const before = await world.appliedCount();
    const run = world.start(['run', 'killed.csv', '--yes']);
    await until('some to be paid', async () => (await world.appliedCount()) >= before + 3, 60_000);
    run.child.kill('SIGKILL');
    await run.ended;
    const stopped = await status('last');
    expect(document(stopped)).toMatchObject({ state: 'paused', reason: { code: 'ALM_BATCH_INTERRUPTED' } });
    const batch = textField(stopped, 'batch');
    const resumed = await world.run('resume', 'last');
    expect([resumed.status, resumed.stdout]).toEqual([0, expect.stringContaining('NO WORKER IS RUNNING')]);
    expect(resumed.stdout).toContain('Next: almoner worker');
    const worker = await world.worker();
    onTestFinished(() => worker.stop());
    // The slot of the request that died with its process is given up only after the request's own time-out.
    await until('the worker to end it', async () => field(await status(batch), 'state') === 'done', 180_000);
    await worker.stop();
    expect(field(await status(batch), 'counts')).toEqual({ paid: 20 });
    expect(await world.applied()).toHaveLength(before + 20);
  });

  it('resume of a halted realm tests the key first', async () => {
    await world.file('halted.csv', rowsOf('halted', 3));
    const wrong = { ...world.env, ALMONER_API_KEY: 'a-key-that-nobody-issued' };
    const withWrongKey = (...args: string[]) => almoner(args, { cwd: world.folder, env: wrong });
    const ran = await withWrongKey('run', 'halted.csv', '--yes', '--json');
    expect([ran.status, field(ran, 'state')]).toEqual([5, 'halted']);
    const batch = textField(ran, 'batch');
    const still = await withWrongKey('resume', batch);
    expect([still.status, still.stderr]).toEqual([5, expect.stringContaining('ALM_REALM_KEY_REFUSED')]);
    expect(field(await status(batch), 'state')).toBe('halted');
    const elsewhere = await almoner(['resume', batch], {
      cwd: world.folder,
      env: { ...world.env, ALMONER_REALM_ID: 'another' },
    });
    expect([elsewhere.status, elsewhere.stderr]).toEqual([
      2,
      expect.stringContaining('ALM_BATCH_REALM_NOT_HERE'),
    ]);
    const resumed = await world.run('resume', batch, '--json');
    expect([resumed.status, field(resumed, 'state')]).toEqual([0, 'running']);
    expect((await world.run('run', 'halted.csv', '--yes')).status).toBe(0);
  });

  it('cancel takes back an unfinished import, and status names it until then', async () => {
    await imported('registered', 1);
    const scripts = new ScriptClient(store.client(), 5_000, () => {});
    const [ledger] = await allLedgers(scripts);
    if (ledger === undefined) throw new Error('no realm is registered');
    const row: PlanRow = {
      line: 2,
      order: { op: 'credit', member: memberId('1'), recipient: null, tokens: tokens(1) },
      reference: 'held',
      reason: null,
      replaces: null,
      cells: ['1', '1', 'held'],
      fault: null,
      duplicateOf: null,
      undoes: null,
    };
    const wanted = { content: 'c0ffee', id: batchId('half-way'), importer: 'died', createdAt: Date.now() };
    const { no } = await openBatch(ledger, wanted);
    const claims = blockClaims(1, [row], () => undefined);
    expect(await putBlock(ledger, { no, importer: 'died', block: 0 }, encodePlanBlock([row]), claims)).toBe(
      'ok',
    );

    const listed = await world.run('status', '--json');
    expect(field(listed, 'unfinished')).toMatchObject([{ batch: 'half-way' }]);
    expect((await world.run('status')).stdout).toContain('an import that did not finish');
    expect((await world.run('pause', 'half-way')).status).toBe(2);
    await world.file('held.csv', 'member,tokens,reference\n1,1,held\n');
    const busy = await world.run('import', 'held.csv', '--yes');
    expect([busy.status, busy.stderr]).toEqual([3, expect.stringContaining('ALM_PLAN_REFERENCE_BUSY')]);

    const cancelled = await world.run('cancel', 'half-way', '--json');
    expect([cancelled.status, document(cancelled)]).toMatchObject([
      0,
      { batch: 'half-way', state: 'cancelled' },
    ]);
    expect(field(await world.run('status', '--json'), 'unfinished')).toEqual([]);
    expect((await world.run('import', 'held.csv', '--yes')).status).toBe(0);
  });

  it('an import whose process is dead is taken back by the next one that needs its references', async () => {
    await world.file('unfinished.csv', rowsOf('unfinished', 40_000));
    const importing = world.start(['import', 'unfinished.csv', '--yes']);
    const client = store.client();
    const isStoring = async () => (await client.keys('almoner:*:b:*:p:3')).length > 0;
    await until('blocks of the import to be stored', isStoring, 60_000);
    await client.client('PAUSE', 5_000, 'WRITE');
    await importing.kill();
    await client.client('UNPAUSE');
    expect(field(await world.run('status', '--json'), 'unfinished')).toHaveLength(1);
    await world.file('overlaps.csv', `${rowsOf('unfinished', 300)}1,1,another\n`);
    const ran = await world.run('import', 'overlaps.csv', '--yes', '--json');
    expect([ran.status, document(ran)]).toMatchObject([0, { counts: { planned: 301 } }]);
    expect(field(await world.run('status', '--json'), 'unfinished')).toEqual([]);
  });

  it('name what is not there', async () => {
    for (const verb of ['pause', 'resume', 'cancel']) {
      const ran = await world.run(verb, 'nonsense', '--json');
      expect([ran.status, document(ran)]).toMatchObject([2, { error: { code: 'ALM_BATCH_NOT_FOUND' } }]);
    }
  });
});
