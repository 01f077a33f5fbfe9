import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAIN } from '../support/almoner.js';
import { Arena } from '../support/arena.js';
import { uniqueRows } from '../support/unique-rows.js';

/** The disk of the journal is full in the middle of a group: some intents stand there and never left. */
const ROWS = 120;
let arena: Arena;

beforeAll(async () => {
  arena = await Arena.open({ certainty: 'manual', members: uniqueRows(ROWS).seeds });
});
afterAll(() => arena.close());

test('what was taken back is not called a second payment when the journals are read again', async () => {
  await arena.file('pay.csv', uniqueRows(ROWS).csv);
  // No file of this process may become larger than 12 KB: the write that passes it is cut, the next one fails.
  const limited = `trap '' XFSZ; ulimit -f 12; exec ${process.execPath} ${MAIN} run pay.csv --yes --json`;
  const child = spawn('bash', ['-c', limited], { cwd: arena.folder, env: arena.env(), stdio: 'ignore' });
  const [code] = await once(child, 'close');
  expect(code).not.toBe(0);
  const again = await arena.run('run', 'pay.csv', '--yes', '--json');
  expect(JSON.parse(again.stdout), again.stderr).toMatchObject({ state: 'done' });
  await arena.store.kill();
  await arena.store.restart();
  const recovered = await arena.run('recover');
  expect(recovered.status, recovered.stdout).toBe(0);
  expect(recovered.stderr).not.toMatch(/paid twice|has forgotten/);
}, 120_000);
