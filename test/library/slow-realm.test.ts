import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { BatchProgress } from '../../src/index.js';
import { parseFaults } from '../../src/realm/server/faults.js';
import { Program } from '../support/program/program.js';
import { until } from '../support/until.js';
import { openLibrary, refusalOf } from './open-library.js';

/** Every request is at the realm for longer than anybody looks. */
const ROWS = 12;
const rowsOf = (event: string) =>
  Array.from({ length: ROWS }, (_, index) => ({
    member: String(300_000_000_000_000_000n + BigInt(index)),
    tokens: 1 + index,
    reference: `${event}-${index}`,
  }));

let world: Program;
beforeAll(async () => {
  world = await Program.start({
    members: rowsOf('').map(({ member }) => ({ member, tokens: 0 })),
    faults: parseFaults(['latency:1:1500']),
  });
});
afterAll(() => world.end());

const open = () => openLibrary(world.env, { cwd: world.folder });

test('a call that only watches resolves when nothing is at the realm any more', async () => {
  await using books = await open();
  const stop = new AbortController();
  const rows = rowsOf('watched');
  let sending = 0;
  const onProgress = ({ counts }: { counts: { sending?: number } }) => {
    sending = counts.sending ?? 0;
  };
  const payer = books.pay({ rows }, { signal: stop.signal, onProgress });
  await until('requests under way', () => sending > 0);
  const watcher = books.pay({ rows }, { onProgress: () => stop.abort() });
  const [watched, paid] = await Promise.all([watcher, payer]);
  expect(watched.counts).toEqual(paid.counts);
  expect(watched.counts.sending).toBeUndefined();
});

test('closing does not wait until all members of a plan were read', async () => {
  const books = await open();
  const checked = refusalOf(books.plan({ rows: rowsOf('checked') }, { check: true }));
  await books.close();
  expect(await checked).toMatchObject({ code: 'ALM_LIBRARY_STOPPED' });
});

test('a cancelled batch whose answers were lost keeps neither the call nor the closing', async () => {
  const lost = await Program.start({
    members: rowsOf('').map(({ member }) => ({ member, tokens: 0 })),
    faults: parseFaults(['reset-after:1']),
  });
  onTestFinished(() => lost.end());
  const books = await openLibrary(lost.env, { cwd: lost.folder });
  let seen: BatchProgress | undefined;
  const onProgress = (progress: BatchProgress) => {
    seen = progress;
  };
  const paying = books.pay({ rows: rowsOf('lost') }, { onProgress });
  await until('unknown orders', () => (seen?.counts.unknown ?? 0) > 0 && (seen?.counts.sending ?? 0) === 0);
  await books.cancel(seen?.batch ?? '');
  await books.close();
  expect(await paying).toMatchObject({ state: 'cancelled' });
});
