import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAIN } from '../support/program/almoner.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';

/** The disk of the journal is full in the middle of a group: some intents stand there and never left. */
const ROWS = 120;
let world: Program;

beforeAll(async () => {
  world = await Program.start(onBadNetwork({ certainty: 'manual', members: uniqueRows(ROWS).seeds }));
});
afterAll(() => world.end());

test('orders taken back after a failed journal write are not reported as second payments', async () => {
  await world.file('pay.csv', uniqueRows(ROWS).csv);
  // No file of this process may become larger than 12 KB: the write that passes it is cut, the next one fails.
  const limited = `trap '' XFSZ; ulimit -f 12; exec ${process.execPath} ${MAIN} run pay.csv --yes --json`;
  const child = spawn('bash', ['-c', limited], { cwd: world.folder, env: world.env, stdio: 'ignore' });
  const [code] = await once(child, 'close');
  expect(code).not.toBe(0);
  const again = await world.run('run', 'pay.csv', '--yes', '--json');
  expect(JSON.parse(again.stdout), again.stderr).toMatchObject({ state: 'done' });
  await world.store.kill();
  await world.store.restart();
  const recovered = await world.run('recover');
  expect(recovered.status, recovered.stdout).toBe(0);
  expect(recovered.stderr).not.toMatch(/paid twice|has forgotten/);
}, 120_000);
