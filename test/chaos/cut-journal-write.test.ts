import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAIN } from '../support/almoner.js';
import { RealmAndWorkers } from '../support/realm-and-workers.js';
import { uniqueRows } from '../support/unique-rows.js';

/** The disk of the journal is full in the middle of a group: some intents stand there and never left. */
const ROWS = 120;
let world: RealmAndWorkers;

beforeAll(async () => {
  world = await RealmAndWorkers.open({ certainty: 'manual', members: uniqueRows(ROWS).seeds });
});
afterAll(() => world.close());

test('what was taken back is not called a second payment when the journals are read again', async () => {
  await world.file('pay.csv', uniqueRows(ROWS).csv);
  // No file of this process may become larger than 12 KB: the write that passes it is cut, the next one fails.
  const limited = `trap '' XFSZ; ulimit -f 12; exec ${process.execPath} ${MAIN} run pay.csv --yes --json`;
  const child = spawn('bash', ['-c', limited], { cwd: world.folder, env: world.env(), stdio: 'ignore' });
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
