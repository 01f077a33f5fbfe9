import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BatchProgress } from '../../src/index.js';
import { Program } from '../support/program/program.js';
import { openLibrary } from './open-library.js';

let world: Program;
const hour = (offset: number) => new Date(Date.now() + offset * 3_600_000).toISOString().slice(11, 16);
beforeAll(async () => {
  const quietHours = [`${hour(-1)}-${hour(2)}`];
  world = await Program.start({
    members: [{ member: '1', tokens: 0 }],
    profile: { quietHours, timezone: 'UTC' },
  });
});
afterAll(() => world.end());

test('a payment that waits for the end of quiet hours says so while it runs and when it is stopped', async () => {
  await using books = await openLibrary(world.env, { cwd: world.folder });
  const stop = new AbortController();
  const seen: BatchProgress['waiting'][] = [];
  const onProgress = ({ waiting }: BatchProgress) => {
    seen.push(waiting);
    if (waiting.length > 0) stop.abort();
  };
  const rows = [{ member: '1', tokens: 5, reference: 'quiet-1' }];
  // A program whose payment said nothing would be stopped after these twenty seconds.
  const late = setTimeout(() => stop.abort(), 20_000);
  const status = await books.pay({ rows }, { signal: stop.signal, onProgress });
  clearTimeout(late);
  expect(seen.flat()).toContainEqual(
    expect.objectContaining({ why: 'quiet', orders: 1, until: expect.any(String) }),
  );
  expect(status).toMatchObject({ state: 'paused', counts: { planned: 1 } });
  expect(await world.appliedCount()).toBe(0);
});
