import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readBatch } from '../../src/ledger/batches.js';
import {
  forgetSession,
  listSessions,
  liveness,
  Session,
  type SessionEntry,
} from '../../src/ledger/sessions.js';
import { ledgerBench, sealed } from '../support/ledger.js';
import { claimFor, feedAll, held } from '../support/order-moves.js';
import { tempFolder } from '../support/temp-folder.js';
import { tieUp } from '../support/tie-up.js';

const bench = ledgerBench();
const PROGRAM = fileURLToPath(new URL('../support/session-program.mjs', import.meta.url));

async function sendingProcess(folder: string): Promise<{ child: ChildProcess; entry: SessionEntry }> {
  const child = spawn(process.execPath, [PROGRAM, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  // Through the register, as another process would come to know it.
  const books = await bench.books();
  await books.caller.redis.hset(`${books.realm}:sessions`, 'child', String(line));
  const [entry] = await listSessions(books);
  if (entry === undefined) throw new Error('the program has no session');
  return { child, entry };
}

describe('a sending process', () => {
  test('is alive while it runs and dead when it was killed, at once and without a clock', async () => {
    const { child, entry } = await sendingProcess(await tempFolder());
    expect(await liveness(entry)).toBe('alive');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await liveness(entry)).toBe('dead');
  });

  test('is alive when it is frozen: it may go on and send at any moment', async () => {
    const { child, entry } = await sendingProcess(await tempFolder());
    child.kill('SIGSTOP');
    expect(await liveness(entry)).toBe('alive');
    expect(await liveness(entry)).toBe('alive');
    child.kill('SIGCONT');
    expect(await liveness(entry)).toBe('alive');
  });

  test('that ends cleanly leaves no socket behind', async () => {
    const { child, entry } = await sendingProcess(await tempFolder());
    child.stdin?.end('close\n');
    await once(child, 'exit');
    expect(await liveness(entry)).toBe('dead');
  });

  test('in a folder that is another one by now is elsewhere: its silence proves nothing', async () => {
    const folder = await tempFolder();
    const { child, entry } = await sendingProcess(folder);
    await rename(join(folder, 'sessions'), join(folder, 'moved'));
    await mkdir(join(folder, 'sessions'));
    expect(await liveness(entry)).toBe('elsewhere');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await liveness(entry)).toBe('elsewhere');
  });

  test('of another machine is elsewhere; of an earlier boot of this one it is dead', async () => {
    const session = await Session.open('run', await tempFolder());
    expect(await liveness({ ...session.entry, machine: 'another' })).toBe('elsewhere');
    expect(await liveness({ ...session.entry, boot: 'earlier' })).toBe('dead');
    expect(await liveness(session.entry)).toBe('alive');
    await session.close();
  });

  test('may live in a folder whose name is too long for a socket', async () => {
    const folder = join(await tempFolder(), 'deep'.repeat(30));
    const session = await Session.open('run', folder);
    expect(Buffer.byteLength(session.entry.socket)).toBeLessThan(104);
    expect(await liveness(session.entry)).toBe('alive');
    await session.close();
  });
});

describe('the register of sessions', () => {
  test('lists who is registered; a clean exit deregisters', async () => {
    const books = await bench.books();
    const session = await Session.open('worker', await tempFolder());
    await session.register(books);
    await session.register(books);
    expect(await listSessions(books)).toEqual([session.entry]);
    await session.deregister(books);
    expect(await listSessions(books)).toEqual([]);
    await session.close();
  });

  test('forgetting a session makes its run stand still and lets go of the members it had claimed', async () => {
    const books = await bench.books();
    const run = await sealed(books, [{ member: '1' }, {}], { owner: 'run-1', id: 'run' });
    const other = await sealed(books, [{ member: '1' }], { id: 'other' });
    await feedAll(run);
    await feedAll(other);
    await held(run, 1);
    expect((await claimFor(other, 1)).answer).toBe('held');
    await forgetSession(books, 'run-1');
    expect(await readBatch(run.ref)).toMatchObject({
      state: 'paused',
      reason: { code: 'ALM_BATCH_INTERRUPTED' },
    });
    expect((await claimFor(other, 1)).answer).toBe('go');
    expect(await readBatch(other.ref)).toMatchObject({ state: 'running' });
    expect(await tieUp(books)).toEqual([]);
  });
});
