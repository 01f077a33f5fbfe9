import { expect, onTestFinished, test } from 'vitest';
import { GOES_ON_MS, openKilledWindow } from '../support/program/killed-window.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

const ROWS = 6;

test('the worker that comes after one that was killed does not wait for it either', async () => {
  const { world, killInTheMiddle, msUntilMore } = await openKilledWindow(ROWS);
  onTestFinished(() => world.end());
  await world.file('import.csv', uniqueRows(ROWS).csv);
  const dying = world.start(['worker']);
  const imported = await world.run('import', 'import.csv', '--yes', '--json');
  expect(imported.status, imported.stderr).toBe(0);
  const paid = await killInTheMiddle(dying);
  expect(paid).toBeGreaterThan(0);
  const next = world.start(['worker']);
  expect(await msUntilMore(paid), next.stderr()).toBeLessThan(GOES_ON_MS);
  await until('all to be paid', async () => (await world.appliedCount()) === ROWS, 60_000);
});

test('a run that is killed and started again goes on at once, not after the time-out of what it left', async () => {
  const { world, killInTheMiddle, msUntilMore } = await openKilledWindow(ROWS);
  onTestFinished(() => world.end());
  await world.file('run.csv', uniqueRows(ROWS).csv);
  const paid = await killInTheMiddle(world.start(['run', 'run.csv', '--yes', '--json']));
  const again = world.start(['run', 'run.csv', '--yes', '--json']);
  expect(await msUntilMore(paid), again.stderr()).toBeLessThan(GOES_ON_MS);
  expect(await again.ended, again.stderr()).toBe(0);
  expect(JSON.parse(again.stdout()).counts).toEqual({ paid: ROWS });
});
