import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { Here } from '../../../src/ledger/here/liveness.js';
import type { SessionEntry } from '../../../src/ledger/read/session-list.js';
import { tempFolder } from '../../support/temp-folder.js';

/**
 * Containers as the kernel sees them: separate processes, network and mounts, and the volume under a different path in
 * each. If the kernel does not allow that, only their host names differ.
 */
const APART = ['--user', '--map-root-user', '--pid', '--net', '--mount', '--mount-proc', '--fork'];
const inContainers = spawnSync('unshare', [...APART, '--kill-child', 'true']).status === 0;
const support = (name: string) => fileURLToPath(new URL(`../../support/${name}`, import.meta.url));

type Container = { readonly lines: Interface; say(line: string): void; kill(): Promise<void> };

function container(host: string, volume: string, at: string, program: string): Container {
  const node = [process.execPath, '--import', support('host-name-preload.mjs'), support(program)];
  const mounted = [
    'sh',
    '-c',
    'mount --bind "$0" "$1" && exec "$2" "$3" "$4" "$5" "$1"',
    volume,
    at,
    ...node,
  ];
  const command = inContainers ? ['unshare', ...APART, '--kill-child', ...mounted] : [...node, volume];
  const child = spawn(command[0] ?? '', command.slice(1), {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, HOST_NAME: host },
  });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  };
  onTestFinished(kill);
  const lines = createInterface({ input: child.stdout });
  return { lines, kill, say: (line) => child.stdin.write(`${line}\n`) };
}

test('a session in a container is seen as alive from every other container with its volume, and dead once killed', async () => {
  const folder = await tempFolder();
  const at = (name: string) => join(folder, name);
  for (const name of ['volume', 'first', 'second']) await mkdir(at(name));
  const sender = container('one', at('volume'), at('first'), 'session-program.mjs');
  const entry: SessionEntry = JSON.parse(String((await once(sender.lines, 'line'))[0]));
  expect(entry).toMatchObject({
    machine: 'one',
    journal: join(at(inContainers ? 'first' : 'volume'), 'journal'),
  });

  const other = container('two', at('volume'), at('second'), 'liveness-program.mjs');
  const told = async () => {
    other.say(JSON.stringify(entry));
    return (await once(other.lines, 'line'))[0];
  };
  const host = new Here(at('volume'));
  expect([await told(), await host.liveness(entry)]).toEqual(['alive', 'alive']);
  await sender.kill();
  expect([await told(), await host.liveness(entry)]).toEqual(['dead', 'dead']);
});
