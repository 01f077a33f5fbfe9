import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { parseFaults } from '../../src/realm/server/faults.js';
import { Program } from '../support/program/program.js';
import { until } from '../support/until.js';

/**
 * A realm's key goes through every path; afterwards it is looked for everywhere: output, logs at the
 * loudest level, every file (append-only file, journals, reports), the process list.
 */
let world: Program;
afterEach(() => world.end());

const csv = `member,tokens,reference\n${Array.from({ length: 20 }, (_, i) => `${9_000_000 + i},5,c-${i}`).join('\n')}\n`;
const members = Array.from({ length: 20 }, (_, i) => ({ member: String(9_000_000 + i), tokens: 0 }));

async function holders(folder: string, shapes: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    if (shapes.some((shape) => bytes.includes(shape))) found.push(path);
  }
  return found;
}

/** The key as it is, and as it could be hidden from a plain search. */
function shapesOf(key: string): string[] {
  return [
    key,
    encodeURIComponent(key),
    Buffer.from(key).toString('base64').replaceAll('=', ''),
    Buffer.from(key).toString('hex'),
  ];
}

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    });
}

test('the key is nowhere after success, failures, halts and loud logs', async () => {
  world = await Program.start({
    members,
    store: 'embedded',
    faults: parseFaults(['error-after:0.2', 'reset-after:0.1', 'storm:0.05:100']),
    profile: { attempts: { max: 10, backoffMs: 20, backoffMaxMs: 100 } },
  });
  const key = world.env.ALMONER_API_KEY ?? '';
  const shapes = shapesOf(key);
  const said: string[] = [];
  const loud = ['--log-level', 'trace'];
  await world.file('a.csv', csv);

  const running = world.start(['run', 'a.csv', '--yes', ...loud]);
  await until('it runs', () => running.stdout().length > 0 || running.child.exitCode !== null || undefined);
  expect(commandLines().filter((line) => line.includes(key))).toEqual([]);
  expect(await running.ended, running.stderr()).toBe(0);
  said.push(running.stdout(), running.stderr());

  for (const args of [
    ['status', 'last'],
    ['doctor'],
    ['member', '9000001'],
    ['member', '404404'],
    ['wallets', '0x00000000000000000000000000000000000000aa'],
    ['plan', 'a.csv', '--check'],
    ['rehearse', 'a.csv', '--bad-day'],
  ]) {
    const human = await world.run(...args, ...loud);
    said.push(human.stdout, human.stderr);
  }
  // A realm that answers everything with the key it was given. The environment alone names it.
  await rm(join(world.folder, 'almoner.config.yaml'));
  const echo = createServer((request, response) => {
    const given = String(request.headers.authorization);
    response.writeHead(401, { 'content-type': 'application/json', 'x-request-id': given.slice(0, 60) });
    response.end(
      JSON.stringify({
        error: given,
        message: `you sent ${given}`,
        url: `http://x/${encodeURIComponent(given)}`,
      }),
    );
  });
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const address = echo.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const echoed = world.start(['run', 'a.csv', '--yes', '--new-address', ...loud], {
    ALMONER_REALM_URL: `http://127.0.0.1:${port}`,
  });
  expect(await echoed.ended).toBe(5);
  said.push(echoed.stdout(), echoed.stderr());
  echo.close();

  const text = said.join('\n');
  for (const shape of shapes) expect(text.includes(shape), `output holds ${shape.slice(0, 8)}…`).toBe(false);
  expect(await holders(world.folder, shapes)).toEqual([]);
}, 90_000);
