import { expect, onTestFinished, test } from 'vitest';
import { GOES_ON_MS, openKilledWindow } from '../support/program/killed-window.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

const ROWS = 6;

test('a worker that follows a killed one does not wait for its slots', async () => {
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

test('a killed run that is started again resumes at once, without waiting for the old time-outs', async () => {
  const { world, killInTheMiddle, msUntilMore } = await openKilledWindow(ROWS);
  onTestFinished(() => world.end());
  await world.file('run.csv', uniqueRows(ROWS).csv);
  const paid = await killInTheMiddle(world.start(['run', 'run.csv', '--yes', '--json']));
  const again = world.start(['run', 'run.csv', '--yes', '--json']);
  expect(await msUntilMore(paid), again.stderr()).toBeLessThan(GOES_ON_MS);
  expect(await again.ended, again.stderr()).toBe(0);
  expect(JSON.parse(again.stdout()).counts).toEqual({ paid: ROWS });
});
