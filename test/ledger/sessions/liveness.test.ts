import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Here } from '../../../src/ledger/here/liveness.js';
import { listSessions, type SessionEntry } from '../../../src/ledger/read/session-list.js';
import { Session } from '../../../src/ledger/sessions/session.js';
import { ledgersOnRedis } from '../../support/ledger/ledgers-on-redis.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';

const bench = ledgersOnRedis();
const here = new Here(null);
const PROGRAM = fileURLToPath(new URL('../../support/session-program.mjs', import.meta.url));

async function sendingProcess(folder: string): Promise<{ child: ChildProcess; entry: SessionEntry }> {
  const child = spawn(process.execPath, [PROGRAM, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  // Through the register, as another process learns of it.
  const ledger = await bench.ledger();
  await ledger.scripts.redis.hset(`${ledger.keyPrefix}:sessions`, 'child', String(line));
  const [entry] = await listSessions(ledger);
  if (entry === undefined) throw new Error('the program has no session');
  return { child, entry };
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

describe('a sending process', () => {
  test('is alive while it runs and dead when killed, at once and without a clock', async () => {
    const { child, entry } = await sendingProcess(await tempFolder());
    expect(await here.liveness(entry)).toBe('alive');
    await end(child);
    expect(await here.liveness(entry)).toBe('dead');
  });

  test('is alive while frozen, because it may continue and send at any moment', async () => {
    const { child, entry } = await sendingProcess(await tempFolder());
    child.kill('SIGSTOP');
    expect(await here.liveness(entry)).toBe('alive');
    expect(await here.liveness(entry)).toBe('alive');
    child.kill('SIGCONT');
    expect(await here.liveness(entry)).toBe('alive');
  });

  test('that left in order is dead: its socket stays and refuses every connection', async () => {
    const folder = await tempFolder();
    const { child, entry } = await sendingProcess(folder);
    child.stdin?.end('close\n');
    await once(child, 'exit');
    expect(await here.liveness(entry)).toBe('dead');
    // Also as seen from another container, where its pid means nothing.
    expect(await here.liveness({ ...entry, space: 'another' })).toBe('dead');
    expect(await readdir(join(folder, 'sessions'))).toEqual([`${entry.id}.sock`]);
  });

  test('whose journal was removed for its age loses its socket too; a live session keeps both', async () => {
    const folder = await tempFolder();
    const gone = await sendingProcess(folder);
    const kept = await sendingProcess(folder);
    await end(gone.child);
    await rm(join(folder, 'journal'), { recursive: true });
    const session = await Session.open('run', folder);
    expect((await readdir(join(folder, 'sessions'))).sort()).toEqual(
      [`${kept.entry.id}.sock`, `${session.id}.sock`].sort(),
    );
    await session.close();
  });

  test('may live in a folder whose name is too long for a socket', async () => {
    const folder = join(await tempFolder(), 'deep'.repeat(30));
    const session = await Session.open('run', folder);
    expect(await readdir(join(folder, 'sessions'))).toEqual([`${session.id}.sock`]);
    expect(await here.liveness(session.entry)).toBe('alive');
    await session.close();
    expect(await here.liveness(session.entry)).toBe('dead');
  });
});

describe('a sending process whose socket was removed', () => {
  test('is alive while it runs or is frozen, and dead once the kernel no longer knows it', async () => {
    const { child, entry } = await sendingProcess(await tempFolder());
    await unlink(entry.socket);
    expect(await here.liveness(entry)).toBe('alive');
    child.kill('SIGSTOP');
    await until('the process to stand still', async () =>
      /\) T /.test(await readFile(`/proc/${child.pid}/stat`, 'utf8')),
    );
    expect(await here.liveness(entry)).toBe('alive');
    await end(child);
    expect(await here.liveness(entry)).toBe('dead');
  });

  test('is dead if another process has its pid now', async () => {
    const session = await Session.open('run', await tempFolder());
    await unlink(session.entry.socket);
    expect(await here.liveness({ ...session.entry, born: '1' })).toBe('dead');
    expect(await here.liveness(session.entry)).toBe('alive');
    await session.close();
  });

  test('is judged the same if the whole folder was removed or replaced', async () => {
    const folder = await tempFolder();
    const { child, entry } = await sendingProcess(folder);
    await rename(join(folder, 'sessions'), join(folder, 'moved'));
    expect(await here.liveness(entry)).toBe('alive');
    await mkdir(join(folder, 'sessions'));
    expect(await here.liveness(entry)).toBe('alive');
    await end(child);
    expect(await here.liveness(entry)).toBe('dead');
  });

  test('counts as remote where its pid means nothing, so its silence proves nothing', async () => {
    const { child, entry } = await sendingProcess(await tempFolder());
    await unlink(entry.socket);
    for (const unknown of [{ space: 'another' }, { space: '' }, { born: '' }])
      expect(await here.liveness({ ...entry, ...unknown })).toBe('elsewhere');
    await end(child);
    expect(await here.liveness({ ...entry, space: 'another' })).toBe('elsewhere');
  });
});
