import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startDeskProcess } from '../support/program/almoner.js';
import { startPickyRealm } from '../support/program/picky-realm.js';
import { startRedis } from '../support/redis-server.js';

/** The commands of docs/api.md as they stand there, in one shell, against a real desk with a worker. */
test('the page’s commands take a file from upload to report', { timeout: 120_000 }, async () => {
  const page = await readFile('docs/api.md', 'utf8');
  const commands = [...page.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, lines = '']) => lines);
  expect(commands.length).toBeGreaterThan(8);
  const folder = await mkdtemp(join(tmpdir(), 'almoner-api-'));
  const redis = await startRedis();
  // It pays members but those that begin with 8: their change breaks with a 500, which proves nothing.
  const realm = await startPickyRealm();
  const env = {
    ...realm.env,
    REDIS_URL: redis.url,
    ALMONER_DATA: join(folder, 'data'),
    ALMONER_REPORTS: join(folder, 'reports'),
  };
  const desk = await startDeskProcess(['--port', '0', '--with-worker'], env, folder);
  try {
    const shell = spawn('bash', ['-euo', 'pipefail', '-c', commands.join('\n')], {
      cwd: folder,
      env: { PATH: process.env.PATH, DESK: desk.url, TOKEN: desk.token },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    let complained = '';
    shell.stdout.on('data', (text) => {
      said += text;
    });
    shell.stderr.on('data', (text) => {
      complained += text;
    });
    const [status] = await once(shell, 'close');
    expect([status, complained], said).toEqual([0, '']);
    const lines = said.trim().split('\n');
    const order = lines.at(-1) ?? '';
    expect(lines).toEqual([
      'operator,admin',
      '0 faults in 2 rows; 80 tokens',
      '{ paid: 1, doubt: 1 }',
      'req-800001',
      'paid',
      '9',
      'true',
      '1',
      '2',
      order,
    ]);
    expect(order).toMatch(/-1$/);
    expect(await readFile(join(folder, 'results.csv'), 'utf8')).toContain('week-46/ben');
    expect(realm.writes.sort()).toEqual(['100001', '800001']);
  } finally {
    await desk.end('SIGTERM');
    await realm.close();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
