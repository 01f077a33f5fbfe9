import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseFaults } from '../../src/realm/server/faults.js';
import { MAIN } from '../support/program/almoner.js';
import { Program, REALM_ID } from '../support/program/program.js';
import { isLong } from '../support/suites.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { listed, openLibrary, refusalOf } from './open-library.js';

/** Programs of their own with the built library: what they leave behind when they close, and when they are killed. */
const ROWS = 120;
const LIBRARY = join(dirname(dirname(MAIN)), 'index.js');
const PROGRAM = resolve('test/support/library-program.mjs');
const PRELOAD = pathToFileURL(resolve('test/support/loaded-files-preload.mjs')).href;
const told = z.object({
  batch: z.string(),
  state: z.string(),
  existing: z.boolean(),
  counts: z.record(z.string(), z.number()),
});
const members = Array.from({ length: ROWS }, (_, index) => ({
  member: String(300_000_000_000_000_000n + BigInt(index)),
  tokens: 0,
}));

function startProgram({ env, folder }: Program, ...args: readonly string[]) {
  const child = spawn(process.execPath, [PROGRAM, LIBRARY, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    stdio: 'pipe',
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, 'close').then(() => {
    expect([child.exitCode, stderr]).toEqual([0, '']);
    // One line: the library itself prints nothing.
    return told.parse(JSON.parse(stdout));
  });
  return { child, ended };
}

describe('a program', { timeout: 120_000 }, () => {
  let world: Program;
  beforeAll(async () => {
    world = await Program.start({
      members,
      faults: parseFaults(['latency:1:40']),
      store: 'embedded',
      env: { ALMONER_RATE: '30/s' },
    });
  });
  afterAll(() => world.end());

  test('that closes while it pays ends by itself, says nothing of its own, and loses nothing', async () => {
    const paused = await startProgram(world, String(ROWS), '5').ended;
    expect(paused).toMatchObject({ state: 'paused' });
    expect(await world.applied()).toHaveLength(paused.counts.paid ?? 0);
    // Nor does the private Redis run on for nobody.
    expect(existsSync(join(world.folder, 'data', 'redis', 'server.pid'))).toBe(false);
  });

  if (isLong)
    test('that is killed again and again in the middle goes on with the same call, and pays each order once', async () => {
      for (const least of [15, 25]) {
        const { child, ended } = startProgram(world, String(ROWS));
        ended.catch(() => {});
        await until('payments', async () => (await world.applied()).length >= least, 60_000);
        child.kill('SIGKILL');
        await once(child, 'close');
      }
      const done = await startProgram(world, String(ROWS)).ended;
      expect(done).toMatchObject({ state: 'done', existing: true, counts: { paid: ROWS } });
      const applied = await world.applied();
      expect(applied).toHaveLength(ROWS);
      expect(new Set(applied.map(({ member }) => member)).size).toBe(ROWS);
      expect(await startProgram(world, String(ROWS)).ended).toMatchObject({
        existing: true,
        counts: { paid: ROWS },
      });
      expect(await world.applied()).toHaveLength(ROWS);
    });
});

test('to import the library loads a handful of small files and no other package', async () => {
  const file = join(await tempFolder(), 'loaded');
  const args = ['--import', PRELOAD, '--input-type=module', '-e', `await import(${JSON.stringify(LIBRARY)})`];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, LOADED_FILES: file },
    stdio: 'inherit',
  });
  await once(child, 'close');
  const loaded = readFileSync(file, 'utf8').match(/^file:.*$/gm) ?? [];
  expect(loaded.filter((address) => address.includes('/node_modules/'))).toEqual([]);
  expect([loaded.length > 2, loaded.length < 15]).toEqual([true, true]);
});

test('a doubt is told, and ends on a person’s word', async () => {
  const world = await Program.start({
    members,
    faults: parseFaults(['reset-after:1']),
    env: { ALMONER_CERTAINTY: 'manual' },
  });
  try {
    await using almoner = await openLibrary(world.env, {
      cwd: world.folder,
      operator: 'ada',
      realm: REALM_ID,
    });
    const rows = members
      .slice(0, 2)
      .map(({ member }) => ({ member, tokens: 5, reference: `doubt/${member}` }));
    const { batch, state, counts, waiting } = await almoner.pay({ rows });
    expect([state, counts, waiting]).toMatchObject(['done', { doubt: 2 }, [{ why: 'doubt', orders: 2 }]]);
    expect(await listed(almoner.doubts())).toMatchObject([
      { order: `${batch}-1`, state: 'doubt', class: 'ALM_SEND_RESET', reference: rows[0]?.reference },
      { order: `${batch}-2` },
    ]);
    const reason = 'seen in the upstream log';
    expect(await almoner.resolveDoubts([`${batch}-1`], { paid: true, reason })).toEqual({
      resolved: [{ order: `${batch}-1`, state: 'paid' }],
      missed: [],
    });
    const unpaid = { paid: false, reason: 'nothing in the upstream log' };
    expect(await refusalOf(almoner.resolveDoubts([`${batch}-2`], unpaid))).toMatchObject({
      code: 'ALM_BATCH_MAY_ARRIVE',
      details: [expect.stringContaining(`${batch}-2 may arrive until`)],
    });
    await almoner.resolveDoubts([`${batch}-2`], { ...unpaid, evenIfItMayArrive: true });
    expect(await almoner.status(batch)).toMatchObject({ counts: { paid: 1, exhausted: 1 } });
    expect(await listed(almoner.deadLetters({ batch }))).toMatchObject([
      { order: `${batch}-2`, state: 'exhausted' },
    ]);
    expect(await listed(almoner.doubts())).toEqual([]);
  } finally {
    await world.end();
  }
});
