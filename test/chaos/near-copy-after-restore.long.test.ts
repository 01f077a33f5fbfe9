import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealmAdmin } from '../../src/realm/server/admin.js';
import { onBadNetwork, Program, REALM_ID } from '../support/program/program.js';

/** A store that was restored has forgotten payments; whoever gives the same rows again is told by the journals. */
let world: Program;
const MEMBERS = Array.from({ length: 7 }, (_, i) => String(8_000_001 + i));
/** Half of them with references, half without. */
const row = (member: string, i: number) => `${member},10,${i < 3 ? `r${member}` : ''}`;
const fileOf = (members: readonly string[]) =>
  ['member,tokens,reference', ...members.map(row), ''].join('\n');

beforeAll(async () => {
  world = await Program.start(onBadNetwork({ certainty: 'idempotent', members: [] }));
});
afterAll(() => world.end());

async function paidTwice(): Promise<string[]> {
  const seen = new Set<string>();
  return (await world.applied())
    .map(({ member }) => String(member))
    .filter((member) => seen.size === seen.add(member).size);
}

test.each(['run', 'import'])(
  'a near-copy is judged by what the journals know, not by what the store remembers: %s',
  async (command) => {
    const members = MEMBERS.map((member) => `${member}${command.length}`);
    await world.file(`${command}-a.csv`, fileOf(members.slice(0, 6)));
    await world.file(`${command}-b.csv`, fileOf(members));
    const refused = await world.run('run', `${command}-a.csv`, '--yes', '--json');
    const { batch, counts } = JSON.parse(refused.stdout);
    expect(counts, refused.stderr).toMatchObject({ refused: 6 });
    const restore = await world.photograph(command);
    await createRealmAdmin(world.realmStore.client()).putMembers(
      REALM_ID,
      members.map((member) => ({ member, tokens: 0 })),
    );
    const retried = await world.run('dead', 'retry', '--batch', batch, '--run', '--json');
    expect(retried.status, retried.stderr).toBe(0);
    await restore();

    const again = await world.run(command, `${command}-b.csv`, '--yes', '--json');
    expect(again.status, again.stderr).toBe(3);
    expect(JSON.parse(again.stdout)).toMatchObject({
      duplicates: 3,
      looksPaid: [{ batch, rows: 3 }],
      faults: [{ code: 'ALM_PLAN_LOOKS_PAID' }],
      books: { paid: expect.any(Number) },
    });
    expect(await paidTwice()).toEqual([]);
  },
);

test('of a store that was emptied, `recover` tells what the journals know of its realms', async () => {
  await world.store.client().flushall();
  const looked = await world.run('recover', '--json');
  expect(JSON.parse(looked.stdout), looked.stderr).toMatchObject({
    realms: [{ realm: REALM_ID, recovered: [{ orders: 6 }, { orders: 6 }] }],
  });
});
