import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { document, textField } from '../support/document.js';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';

const told = z.object({
  batches: z.array(z.object({ batch: z.string(), by: z.array(z.string()), archived: z.boolean() })),
  orders: z.array(z.object({ order: z.string(), by: z.array(z.string()), state: z.string() })),
  more: z.boolean(),
  stopped: z.boolean(),
  unsearched: z.array(z.object({ batch: z.string(), message: z.string() })),
  rows: z.object({ scanned: z.number(), of: z.number() }),
});

const DAY = new Date().toISOString().slice(0, 10);
let world: Program;
/** Paid and archived; refused in part; never sent. */
let [archived, mixed, planned] = ['', '', ''];

async function find(...args: string[]) {
  const ran = await world.run('find', '--json', ...args);
  expect(ran.status, ran.stderr).toBe(0);
  return told.parse(document(ran));
}
const hits = ({ orders }: z.infer<typeof told>) => orders.map(({ order, by }) => [order, by.join(' ')]);

beforeAll(async () => {
  world = await Program.start({
    store: 'embedded',
    members: [
      { member: '20261103', tokens: 100 },
      { member: '12', tokens: 100 },
    ],
  });
  await world.file('spring-gift.csv', 'member,tokens,reference\n20261103,5,inv-1\n12,1000,inv-2\n');
  await world.file(
    'mixed.csv',
    'member,tokens,reference,recipient\n12,7,"say ""hi"", ä",20261103\n404,7,inv-9,12\n',
  );
  await world.file('waits.csv', 'member,tokens,reference\n12,1000,20261103\n12,-7,inv-4\n');
  archived = textField(await world.run('run', 'spring-gift.csv', '--yes', '--json'), 'batch');
  const env = { ...world.env, ALMONER_RETENTION_DAYS: '0' };
  await almoner(['status'], { cwd: world.folder, env });
  mixed = textField(await world.run('run', 'mixed.csv', '--yes', '--json'), 'batch');
  planned = textField(await world.run('import', 'waits.csv', '--yes', '--json'), 'batch');
}, 120_000);
afterAll(() => world.end());

describe('almoner find', () => {
  it('finds by reference: one that is spent, one that is free again, one in an archive', async () => {
    expect(hits(await find('inv-2'))).toEqual([[`${archived}-2`, 'reference']]);
    expect(hits(await find('inv-9'))).toEqual([[`${mixed}-2`, 'reference']]);
    expect(hits(await find('say "hi", ä'))).toEqual([[`${mixed}-1`, 'reference']]);
    expect(hits(await find('inv'))).toEqual([]);
  });

  it('finds by file, batch, order, amount and day, archives included, newest first', async () => {
    expect((await find('SPRING')).batches).toMatchObject([{ batch: archived, by: ['file'], archived: true }]);
    expect((await find(mixed.slice(0, 10))).batches).toMatchObject([{ batch: mixed, by: ['batch'] }]);
    expect(hits(await find(`${archived}-1`))).toEqual([[`${archived}-1`, 'order']]);
    expect(hits(await find('1,000'))).toEqual([
      [`${planned}-1`, 'amount'],
      [`${archived}-2`, 'amount'],
    ]);
    expect(hits(await find('7'))).toEqual([
      [`${planned}-2`, 'amount'],
      [`${mixed}-1`, 'amount'],
      [`${mixed}-2`, 'amount'],
    ]);
    expect(hits(await find('--', '-7'))).toEqual([[`${planned}-2`, 'amount']]);
    const day = await find(DAY);
    expect(day.batches.map(({ batch }) => batch)).toEqual([planned, mixed, archived]);
    expect(hits(day)).toEqual(
      [`${mixed}-1`, `${mixed}-2`, `${archived}-1`, `${archived}-2`].map((order) => [order, 'day']),
    );
    expect((await find('2001-01-01')).batches).toEqual([]);
  });

  it('looks for every meaning of a text and says of each hit by which it was found', async () => {
    expect(hits(await find('20261103'))).toEqual([
      [`${planned}-1`, 'reference'],
      [`${mixed}-1`, 'member'],
      [`${archived}-1`, 'member'],
    ]);
    expect(hits(await find('20261103', '--by', 'reference'))).toEqual([[`${planned}-1`, 'reference']]);
    expect(hits(await find('12', '--realm', 'elsewhere'))).toEqual([]);
  });

  it('says that more matched, and how to see it', async () => {
    const some = await find('12', '--limit', '2');
    expect([some.orders.length, some.more]).toEqual([2, true]);
    const all = await find('12', '--limit', '5');
    expect([all.orders.length, all.more]).toEqual([5, false]);
    const person = await world.run('find', '12', '--limit', '2');
    expect(person.stdout).toMatch(
      /^\d+ batch(es)? and more than 2 orders matched "12", newest batch first:\n/,
    );
    expect(person.stdout).toContain('More matched: only the first 2 orders are listed.');
    expect(person.stdout).toMatch(/Next: --limit 20 lists more/);
    expect((await world.run('find', '12')).stdout).toContain('Next: almoner history 12');
    const none = await world.run('find', 'nowhere');
    expect([none.status, none.stdout]).toEqual([0, 'No batch or order in this ledger matches "nowhere".\n']);
  });

  it('refuses an empty text and a meaning that there is not', async () => {
    expect((await world.run('find', ' ')).status).toBe(2);
    expect((await world.run('find', 'x', '--by', 'line')).status).toBe(2);
  });

  it('stops at the limit where every row of a large batch matches', async () => {
    const rows = Array.from({ length: 3_000 }, (_, i) => `${7_000_000 + i},55`);
    await world.file('bulk.csv', `member,tokens\n${rows.join('\n')}\n`);
    const bulk = textField(await world.run('import', 'bulk.csv', '--yes', '--json'), 'batch');
    const many = await find('55', '--limit', '3');
    expect(hits(many)).toEqual([1, 2, 3].map((index) => [`${bulk}-${index}`, 'amount']));
    expect([many.more, many.rows.scanned < 1_000]).toEqual([true, true]);
    expect(hits(await find('7002999'))).toEqual([[`${bulk}-3000`, 'member']]);
  });

  it('names a batch whose archive is gone, and finds everything else', async () => {
    const archives = join(world.folder, 'data', 'archive');
    const [realm = ''] = await readdir(archives);
    await rm(join(archives, realm, `${archived}.alm`));
    const found = await find('1000');
    expect(hits(found)).toEqual([[`${planned}-1`, 'amount']]);
    expect(found.unsearched).toMatchObject([{ batch: archived }]);
    expect((await world.run('find', 'inv-2')).stdout).toContain(
      `Not searched: Batch ${archived} is archived`,
    );
  });
});
