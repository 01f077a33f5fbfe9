import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listJournals, noteRemoved } from '../../src/ledger/journal/folder.js';
import { readFence } from '../../src/ledger/read/fence.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';

/** The store is restored from further back than the journals reach, so the orders sent in between are unknown. */
const ROWS = 12;
let world: Program;

beforeAll(async () => {
  // On a busy machine an answer that comes late would be a doubt.
  const totalMs = 20_000;
  world = await Program.start(
    onBadNetwork({ certainty: 'manual', members: uniqueRows(ROWS + 2).seeds, totalMs }),
  );
});
afterAll(() => world.end());

const RUN = ['run', 'pay.csv', '--yes', '--json'] as const;

/** As rotation does it, once the ledger has settled all of them. */
async function removeJournals(): Promise<void> {
  const ledger = world.ledger();
  const { era, seq } = await readFence(ledger);
  const folder = join(world.folder, 'data', 'journal');
  for (const { session, files } of await listJournals(folder)) {
    const removed = { [ledger.keyPrefix]: { [era]: seq } };
    await noteRemoved(folder, session, removed, () => Promise.resolve(false));
    for (const { path } of files) await rm(path);
  }
}

test('no order is sent and the ledger stays closed, by any command, until a person accepts the loss', async () => {
  await world.file('pay.csv', uniqueRows(ROWS).csv);
  const first = await world.run(...RUN, '--first', '3');
  expect(JSON.parse(first.stdout), first.stderr).toMatchObject({ counts: { paid: 3, planned: ROWS - 3 } });
  const restore = await world.photograph('early');
  const second = await world.run(...RUN);
  expect(second.status, second.stderr).toBe(0);
  await world.file('late.csv', uniqueRows(2, ROWS).csv);
  const late = await world.run('run', 'late.csv', '--yes', '--json');
  expect(late.status, late.stderr).toBe(0);
  await removeJournals();
  await restore();

  const refused = await world.run(...RUN);
  expect(refused.status, refused.stderr).toBe(5);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    state: 'halted',
    reason: { code: 'ALM_LEDGER_ROLLED_BACK', next: expect.stringContaining('almoner recover') },
    counts: { paid: 3, planned: ROWS - 3 },
  });

  const looked = await world.run('recover', '--json');
  expect(looked.status, looked.stderr).toBe(5);
  expect(JSON.parse(looked.stdout)).toMatchObject({
    accepted: null,
    realms: [
      {
        armed: false,
        reason: { code: 'ALM_LEDGER_ROLLED_BACK' },
        losses: [{ session: 'removed', exact: false, orders: ROWS - 3 }],
      },
    ],
  });
  const said = await world.run('recover');
  expect(said.status).toBe(5);
  expect(said.stdout).toContain('closed, nothing is sent');
  expect(said.stdout).not.toContain('--retire-unseen-since');
  expect(said.stdout).toMatch(
    new RegExp(
      `recover --accept-missing removed.*\\n.*every order .* doubt, up to ${ROWS - 3} orders \\(\\d+ tokens\\)`,
    ),
  );
  const again = await world.run(...RUN);
  expect(again.status).toBe(5);
  expect(await world.appliedCount()).toBe(ROWS + 2);

  const accepted = await world.run('recover', '--accept-missing', 'removed', '--json');
  expect(accepted.status, accepted.stderr).toBe(0);
  expect(JSON.parse(accepted.stdout)).toMatchObject({
    accepted: { exact: false, orders: ROWS - 3 },
    realms: [{ armed: true, reason: null }],
  });
  const last = await world.run(...RUN);
  expect(JSON.parse(last.stdout)).toMatchObject({ state: 'done', counts: { paid: 3, doubt: ROWS - 3 } });
  expect(await world.appliedCount()).toBe(ROWS + 2);

  // A batch that neither the store nor any journal knows cannot be told from a new one: a person has to.
  const forgotten = await world.run('run', 'late.csv', '--yes', '--json');
  expect(forgotten.status, forgotten.stdout).toBe(3);
  expect(JSON.parse(forgotten.stdout)).toMatchObject({
    faults: [{ code: 'ALM_PLAN_MAYBE_FORGOTTEN' }],
  });
  expect(await world.appliedCount()).toBe(ROWS + 2);
  const onPurpose = await world.run('run', 'late.csv', '--again', 'looked', '--yes', '--json');
  expect(onPurpose.status, onPurpose.stderr).toBe(0);
}, 120_000);
