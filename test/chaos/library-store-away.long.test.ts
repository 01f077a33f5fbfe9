import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { PayRow } from '../../src/index.js';
import { listed, openLibrary, refusalOf } from '../library/open-library.js';
import { MAIN } from '../support/program/almoner.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { until } from '../support/until.js';

/**
 * The store goes away under a program that pays. The realm honours no key and the certainty is manual: a second
 * payment would show, and so would a doubt that nobody had to have.
 */
const ROWS = 24;
const PATIENCE_MS = 300;
const STOP_MS = 1_000;
/** A request is under way for longer than a stop may take: it finishes all the same. */
const ANSWER_MS = 1_300;
const LIBRARY = join(dirname(dirname(MAIN)), 'index.js');
const PROGRAM = resolve('test/support/library-program.mjs');
const member = (index: number) => String(300_000_000_000_000_000n + BigInt(index));
const rowsOf = (event: string): PayRow[] =>
  Array.from({ length: ROWS }, (_, index) => ({
    member: member(index),
    tokens: 1 + index,
    reference: `${event}-${index}`,
  }));

let world: Program;
let before: number;
/** Orders of a first try would be known to a second. */
let tries = 0;
beforeAll(async () => {
  world = await Program.start(
    onBadNetwork({
      certainty: 'manual',
      members: rowsOf('').map((row) => ({ member: row.member, tokens: 0 })),
      faults: [`latency:1:${ANSWER_MS}`],
      rate: '20/s',
      totalMs: 20_000,
      limits: { storeAnswerMs: 500, stopMs: STOP_MS },
    }),
  );
});
afterEach(back);
afterAll(() => world.end());

/** A program whose log fails meanwhile is paid for all the same. */
const log = () => {
  throw new Error('the log does not take this line');
};
const open = () =>
  openLibrary(world.env, { cwd: world.folder, patienceMs: PATIENCE_MS, logLevel: 'warn', log });

/** A payment that is under way: some orders are paid, others are at the realm. */
async function midway(): Promise<void> {
  await until('payments', async () => (await world.appliedCount()) >= before + 4, 90_000);
}

async function expectPaidOnce(event: string): Promise<void> {
  await using books = await open();
  expect(await books.pay({ rows: rowsOf(event) })).toMatchObject({ state: 'done', counts: { paid: ROWS } });
  const paid = (await world.applied()).slice(before).map((change) => change.member);
  expect([paid.length, new Set(paid).size]).toEqual([ROWS, ROWS]);
}

/** How a store is away, each for as long as nobody brings it back. */
const AWAY: Readonly<Record<string, () => Promise<unknown>>> = {
  killed: () => world.store.kill(),
  frozen: async () => process.kill(world.store.pid, 'SIGSTOP'),
  'refusing writes': () => world.store.client().config('SET', 'maxmemory', '1'),
};
let away = '';
async function leave(how: string): Promise<void> {
  away = how;
  await AWAY[how]?.();
}
async function back(): Promise<void> {
  if (away === 'killed') await world.store.restart();
  if (away === 'frozen') process.kill(world.store.pid, 'SIGCONT');
  if (away === 'refusing writes') await world.store.client().config('SET', 'maxmemory', '0');
  away = '';
}

describe.each(Object.keys(AWAY))(
  'a store that is %s for longer than calls wait',
  { timeout: 180_000 },
  (how) => {
    test('holds a payment up, which resumes by itself: every member is paid once', async () => {
      before = await world.appliedCount();
      const event = `on-${how}-${tries++}`;
      await using books = await open();
      const paying = books.pay({ rows: rowsOf(event) });
      // Where the test ends before it, its end is of no interest.
      paying.catch(() => {});
      await midway();
      await leave(how);
      const sent = await world.appliedWhenQuiet(ANSWER_MS + 2 * PATIENCE_MS);
      if (how !== 'refusing writes')
        expect(await refusalOf(listed(books.batches()))).toMatchObject({ code: 'ALM_STORE_UNREACHABLE' });
      expect(await world.appliedCount()).toBe(sent);
      await back();
      expect(await paying).toMatchObject({ state: 'done', counts: { paid: ROWS } });
      await expectPaidOnce(event);
    });

    test('does not keep a closing program running: it ends in time, and the next one pays the rest', async () => {
      before = await world.appliedCount();
      const event = `off-${how}-${tries++}`;
      const program = spawn(process.execPath, [PROGRAM, LIBRARY, String(ROWS), '', event], {
        cwd: world.folder,
        env: world.env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      onTestFinished(() => void program.kill('SIGKILL'));
      let said = '';
      for (const stream of [program.stdout, program.stderr])
        stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
      await midway();
      await leave(how);
      program.kill('SIGTERM');
      // Nobody brings the store back before it has ended.
      const [status] = await once(program, 'close');
      expect([status, said]).toEqual([0, '{"thrown":"ALM_STORE_UNREACHABLE"}\n']);
      await back();
      await expectPaidOnce(event);
    });
  },
);
