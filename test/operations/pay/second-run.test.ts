import { expect, test } from 'vitest';
import { findBatch } from '../../../src/ledger/index.js';
import { listSessions } from '../../../src/ledger/read/session-list.js';
import { runExisting, type Watch } from '../../../src/operations/pay/run-batch.js';
import { App } from '../../../src/runtime/app.js';
import { loadConfig } from '../../../src/runtime/config/config.js';
import { createLogger } from '../../../src/runtime/logger.js';
import { heldBefore } from '../../support/ledger/held-script.js';
import { Program } from '../../support/program/program.js';
import { uniqueRows } from '../../support/program/unique-rows.js';
import { until } from '../../support/until.js';

test('of two that go on with a run, the slower one leaves the registry and watches', async () => {
  const { csv, seeds } = uniqueRows(10);
  const world = await Program.start({ members: seeds });
  const { env, folder: cwd } = world;
  const config = await loadConfig({ env, cwd, flags: {} });
  const open = () =>
    App.open({
      ...{ config, env, clientName: 'test', patienceMs: 10_000 },
      logger: createLogger({ level: 'silent' }),
    });
  const [quick, slow] = [await open(), await open()];
  try {
    await world.file('pay.csv', csv);
    const paused = await world.run('run', 'pay.csv', '--yes', '--first', '1', '--json');
    const { batch } = JSON.parse(paused.stdout);
    const goOn = async (app: App, onProgress: Watch['onProgress']) =>
      runExisting(app, await findBatch(app.scripts, batch), { stop: { aborted: false }, onProgress });
    const { held, goOn: release } = heldBefore(slow, 'steer');
    let looks = 0;
    const second = goOn(slow, () => (looks += 1));
    await held;
    // The quick one pays and settles nothing, so that its run lasts until the slow one has looked on.
    const orders = quick.scripts.orders.bind(quick.scripts);
    let settle = () => {};
    const looked = new Promise<void>((resolve) => {
      settle = resolve;
    });
    quick.scripts.orders = async (name, ...rest) => {
      if (name === 'settle') await looked;
      return orders(name, ...rest);
    };
    const first = goOn(quick, () => {});
    await until('the quick one to pay', async () => (await world.appliedCount()) > 1);
    release();
    await until('the slow one to look on', () => looks > 0);
    const { ledger } = await findBatch(quick.scripts, batch);
    expect(await listSessions(ledger)).toHaveLength(1);
    settle();
    for (const status of await Promise.all([first, second]))
      expect(status).toMatchObject({ state: 'done', counts: { paid: 10 } });
    expect(await world.applied()).toHaveLength(10);
  } finally {
    await quick.close();
    await slow.close();
    await world.end();
  }
});
