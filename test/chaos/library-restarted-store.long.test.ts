import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PayRow } from '../../src/index.js';
import { openLibrary, refusalOf } from '../library/open-library.js';
import { onBadNetwork, Program, REALM_ID } from '../support/program/program.js';
import { auditedAdmin } from '../support/program/realm-records.js';
import { until } from '../support/until.js';

/**
 * The store is restarted under a program that has paid many lists and pays more of them at once. The realm honours no
 * key and the certainty is manual: a second payment would show, and so would a doubt that nobody had to have.
 */
const MEMBERS = 100;
const member = (index: number) => String(300_000_000_000_000_000n + BigInt(index));
const rowsOf = (event: string, count: number): PayRow[] =>
  Array.from({ length: count }, (_, index) => ({
    member: member(index),
    tokens: 1 + index,
    reference: `${event}-${index}`,
  }));

let world: Program;
beforeAll(async () => {
  world = await Program.start(
    onBadNetwork({
      certainty: 'manual',
      members: rowsOf('', MEMBERS).map((row) => ({ member: row.member, tokens: 0 })),
      faults: ['latency:1:20'],
      rate: '100/s',
      // On a busy machine an answer that comes late would be a doubt.
      totalMs: 20_000,
    }),
  );
});
afterAll(() => world.end());

const open = () => openLibrary(world.env, { cwd: world.folder });

test('lists that are given one after the other go through at once, and so does one under way', async () => {
  await using books = await open();
  for (let list = 0; list < 8; list++) await books.pay({ rows: rowsOf(`earlier-${list}`, 1) });
  const before = await world.appliedCount();
  const underWay = books.pay({ rows: rowsOf('under-way', MEMBERS) });
  await until('payments', async () => (await world.appliedCount()) > before + 5);
  await world.store.kill();
  await world.store.restart();
  const lists = Array.from({ length: 6 }, async (_, list) => {
    await new Promise((resolve) => setTimeout(resolve, 100 * list));
    return books.pay({ rows: rowsOf(`later-${list}`, 3) });
  });
  const paid = await Promise.all(lists);
  expect(paid.map(({ state, counts }) => [state, counts])).toEqual(paid.map(() => ['done', { paid: 3 }]));
  expect(await underWay).toMatchObject({ state: 'done', counts: { paid: MEMBERS } });
  expect(await world.appliedCount()).toBe(before + MEMBERS + 18);
});

test('between the plan of a list and its seal: the list goes through', async () => {
  await using books = await open();
  const redis = world.store.client();
  const sessions = async () =>
    (await Promise.all((await redis.keys('*:sessions')).map((key) => redis.hvals(key)))).flat();
  const before = await world.appliedCount();
  const paying = books.pay({ rows: rowsOf('sealing', MEMBERS) });
  await until('the session of a run', async () =>
    (await sessions()).some((entry) => entry.includes('"kind":"run"')),
  );
  await world.store.kill();
  await world.store.restart();
  expect(await paying).toMatchObject({ state: 'done', counts: { paid: MEMBERS } });
  expect(await world.appliedCount()).toBe(before + MEMBERS);
});

test('replaced by an empty store during a payment: the program is not told that nothing was sent', async () => {
  await using books = await open();
  const before = await world.appliedCount();
  const paying = refusalOf(books.pay({ rows: rowsOf('emptied', MEMBERS) }));
  await until('payments', async () => (await world.appliedCount()) > before + 5);
  await world.store.client().flushall();
  expect(await paying).toMatchObject({
    code: 'ALM_LEDGER_PLAN_MISSING',
    message: expect.stringContaining('what was sent stands in the journals'),
  });
  expect(await books.pay({ rows: rowsOf('emptied', MEMBERS) })).toMatchObject({
    state: 'done',
    counts: { paid: MEMBERS },
  });
  expect(await world.appliedCount()).toBe(before + MEMBERS);
});

/** Puts the store back to this moment: as a restored copy does, it begins anew as another server. */
async function photograph(): Promise<() => Promise<void>> {
  const redis = world.store.client();
  const keys = await redis.keys('*');
  const copies = await Promise.all(keys.map(async (key) => [key, await redis.dumpBuffer(key)] as const));
  return async () => {
    await redis.flushall();
    for (const [key, copy] of copies) if (copy !== null) await redis.restore(key, 0, copy);
    await world.store.kill();
    await world.store.restart();
  };
}

test('restored and opened by another machine: payments made here are known before a list is judged', async () => {
  await using books = await open();
  await books.pay({ rows: rowsOf('before', 1) });
  const strangers = Array.from({ length: 5 }, (_, at) => ({ member: member(5_000 + at), tokens: 71 + at }));
  const refused = await books.pay({ rows: strangers });
  expect(refused.counts).toEqual({ refused: 5 });
  const putBack = await photograph();
  const admin = auditedAdmin(world.realmStore.client());
  await admin.putMembers(
    REALM_ID,
    strangers.map(({ member }) => ({ member, tokens: 0 })),
  );
  const retried = await world.run('dead', 'retry', '--batch', refused.batch, '--run', '--json');
  expect(JSON.parse(retried.stdout).batches).toMatchObject([{ counts: { paid: 5 } }]);
  const paid = await world.appliedCount();
  await putBack();
  // The folders here are looked for by whoever knows of them; another machine does not find them.
  const redis = world.store.client();
  const places = await redis.keys('*:dataFolders');
  await redis.del(...places);
  const machine = { ...world.env, ALMONER_DATA: join(world.folder, 'another-machine') };
  await using elsewhere = await openLibrary(machine, { cwd: world.folder });
  await elsewhere.pay({ rows: rowsOf('elsewhere', 30) });
  const copy = [...strangers, { member: member(9), tokens: 7_000 }];
  expect(await refusalOf(books.pay({ rows: copy }))).toMatchObject({ code: 'ALM_PLAN_LOOKS_PAID' });
  expect(await world.appliedCount()).toBe(paid + 30);
});
