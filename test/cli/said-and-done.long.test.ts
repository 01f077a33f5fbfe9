import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { field, textField } from '../support/document.js';
import { almoner as typed } from '../support/program/almoner.js';
import { Program, REALM_ID } from '../support/program/program.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/** What a command says of what it did is true, and what it advises works: the advice is followed here. */

let world: Program;
beforeAll(async () => {
  const members = Array.from({ length: 60 }, (_, n) => ({ member: String(n + 1), tokens: 0 }));
  world = await Program.start({ store: 'own', members });
});
afterAll(() => world.end());

const almoner = (...args: string[]) => typed(args, { env: world.env, cwd: world.folder });
const counts = async (batch: string) => field(await almoner('status', batch, '--json'), 'counts');

const takeIn = (member: string) => world.realm.admin.putMembers(REALM_ID, [{ member, tokens: 0 }], 'keep');
const balance = (member: string) => world.realm.admin.balance(REALM_ID, member);

async function pay(name: string, csv: string, ...options: string[]): Promise<string> {
  await world.file(name, csv);
  return textField(await almoner('run', join(world.folder, name), '--yes', '--json', ...options), 'batch');
}

test('dead retry --run retries nothing where the batch cannot be worked here', async () => {
  const batch = await pay('here.csv', 'member,tokens,reference\n1,5,a1\n901,6,a2\n');
  const retry = (env: NodeJS.ProcessEnv, cwd = world.folder) =>
    typed(['dead', 'retry', '--batch', batch, '--run'], { env, cwd });
  const { ALMONER_REALM_URL: url = '', ALMONER_REALM_ID: _, ...fromFile } = world.env;

  const moved = await retry({ ...world.env, ALMONER_REALM_URL: url.replace('127.0.0.1', 'localhost') });
  expect(moved).toMatchObject({ status: 2, stderr: expect.stringContaining('ALM_BATCH_REALM_NOT_HERE') });
  expect(moved.stderr).toContain('Nothing was done');
  expect(await counts(batch)).toEqual({ paid: 1, refused: 1 });

  const folder = await tempFolder();
  await writeFile(
    join(folder, 'almoner.config.yaml'),
    `realms: { ${REALM_ID}: { baseUrl: "${url}", realmId: ${REALM_ID}, keyEnv: ALMONER_API_KEY, realmPointId: gold } }\n`,
  );
  const gold = await retry(fromFile, folder);
  expect(gold).toMatchObject({ status: 5, stderr: expect.stringContaining('ALM_BATCH_TERMS_CHANGED') });
  expect(gold.stderr).toContain('Nothing was done');
  expect(await counts(batch)).toEqual({ paid: 1, refused: 1 });
});

test('dead retry --run and rules run send nothing from a store that is not safe', async () => {
  const batch = await pay('safe.csv', 'member,tokens,reference\n1,5,b1\n902,6,b2\n');
  const rule = `name: monthly\nrealm: ${REALM_ID}\nperiod: month\naudience: { members: [1] }\naward: { tokens: 7 }\nlimits: { perRun: 100 }\nreason: x\n`;
  await world.file('jobs/monthly.yaml', rule);
  await world.store.client().config('SET', 'appendfsync', 'everysec');
  for (const command of [
    ['dead', 'retry', '--batch', batch, '--run'],
    ['rules', 'run', 'monthly', '--yes'],
  ])
    expect(await almoner(...command)).toMatchObject({
      status: 5,
      stderr: expect.stringContaining('ALM_STORE_FSYNC'),
    });
  await world.store.client().config('SET', 'appendfsync', 'always');
  expect(await counts(batch)).toEqual({ paid: 1, refused: 1 });
});

test('a dead letter that is not retried says why, and what it advises pays it', async () => {
  const batch = await pay('twins.csv', 'member,tokens\n11,5\n911,6\n912,6\n');
  await takeIn('911');
  const stands = `member,tokens,almoner_order\n911,6,${batch}-2\n`;
  const other = await pay('mended.csv', stands);
  const replaced = await almoner('dead', 'retry', `${batch}-2`, '--run');
  expect(replaced.stdout).toContain(`an order of batch ${other} stands in for it`);
  const shown = await almoner('dead', 'show', `${batch}-2`);
  expect(shown.stdout).toContain(`an order of batch ${other} stands in for it`);

  await takeIn('912');
  await pay('twin.csv', 'member,tokens\n912,6\n');
  const twin = await almoner('dead', 'retry', `${batch}-3`, '--run');
  expect(twin.stdout).toContain('run its row of failed.csv with --again LABEL');
  const both = await pay('both.csv', `member,tokens,almoner_order\n912,6,${batch}-3\n`, '--again', 'both');
  expect(await counts(both)).toEqual({ paid: 1 });
  expect(await balance('912')).toBe(12);
});

test('what dead retry advises sends them: of a batch with a label, and of one that stands still', async () => {
  const csv = 'member,tokens\n21,5\n921,6\n';
  await pay('labelled.csv', csv);
  const labelled = await pay('labelled.csv', csv, '--again', 'L1');
  const still = await pay('still.csv', 'member,tokens\n922,6\n22,5\n23,5\n', '--first', '1', '--in-order');
  expect(await counts(still)).toEqual({ planned: 2, refused: 1 });
  await takeIn('921');
  await takeIn('922');

  const retried = await almoner('dead', 'retry', `${labelled}-2`, `${still}-1`);
  expect(retried.stdout).toMatch(new RegExp(`^Next: almoner worker\n {6}almoner resume ${still}$`, 'm'));
  expect((await almoner('resume', still)).stdout).toMatch(/^Next: almoner worker$/m);
  const worker = await world.worker();
  onTestFinished(() => worker.stop());
  for (const [batch, paid] of [
    [labelled, 2],
    [still, 3],
  ] as const)
    await until(`${batch} to be paid`, async () => isDeepStrictEqual(await counts(batch), { paid }));
  await worker.stop();
}, 60_000);

const rows = (from: number, to: number) =>
  `member,tokens\n${Array.from({ length: to - from }, (_, i) => `${from + i},5\n`).join('')}`;
const rest = (batch: string) => join(world.folder, 'reports', batch, 'unprocessed.csv');
const next = ({ stdout }: { stdout: string }) => /^Next: (.*)$/m.exec(stdout)?.[1] ?? '';

/** Cancels a batch and writes its report, as its advice says. */
async function cancel(batch: string): Promise<void> {
  const cancelled = await almoner('cancel', batch);
  expect(cancelled.stdout).toContain('orders stay unsent; any reference they have is free again.');
  expect(next(await almoner('status', batch))).toMatch(/^to pay what was never sent: .*unprocessed\.csv/);
  expect((await almoner('report', batch)).status).toBe(0);
}

test('the rest of a cancelled run of an unprocessed.csv is paid by its own, and the first one names it', async () => {
  const first = await pay('long.csv', rows(31, 43), '--first', '4');
  await cancel(first);
  const some = await almoner('run', rest(first), '--first', '3', '--yes', '--json');
  const second = textField(some, 'batch');
  await cancel(second);
  expect(next(await almoner('status', second))).not.toContain('the file again');
  const refused = await almoner('run', rest(first), '--new-rows-only', '--yes');
  expect(refused.stdout).toContain(`(batch ${second}). That batch was cancelled; what it did not send is in`);
  const last = await almoner('run', rest(second), '--yes', '--json');
  expect([last.status, field(last, 'counts')]).toEqual([0, { paid: 5 }]);
  for (let member = 31; member < 43; member++) expect(await balance(String(member))).toBe(5);
});

test('rows of a cancelled batch that the file given again pays are left out of its unprocessed.csv', async () => {
  const first = await pay('again.csv', rows(43, 55), '--first', '4');
  await cancel(first);
  await pay('again.csv', rows(43, 55), '--new-rows-only', '--first', '3');
  expect(next(await almoner('status', first))).toContain('with --new-rows-only where another file pays some');
  const left = await almoner('run', rest(first), '--new-rows-only', '--yes', '--json');
  expect([left.status, field(left, 'counts')]).toEqual([0, { duplicate: 8 }]);
});

test('status says where dead letters went once none is left, and dead list that there were some', async () => {
  const batch = await pay('gone.csv', 'member,tokens,reference\n1,5,g1\n931,6,g2\n932,6,g3\n');
  await takeIn('931');
  expect(next(await almoner('status', batch))).toContain(`almoner dead retry --batch ${batch}`);
  const other = await pay('g2.csv', `member,tokens,reference,almoner_order\n931,6,g2,${batch}-2\n`);
  const half = await almoner('dead', 'list', '--batch', batch);
  expect(half.stdout).toContain('1 more was discarded or put into another file: --all lists them.');
  expect(next(await almoner('status', batch))).toContain(`almoner dead retry --batch ${batch}`);

  const last = await pay('g3.csv', `member,tokens,reference,almoner_order\n932,6,g3,${batch}-3\n`);
  const status = await almoner('status', batch);
  expect(status.stdout).toContain(`2 put into another file (batch ${other}, ${last})`);
  expect(next(status)).toBe(`almoner status ${other}; almoner status ${last}`);
  expect(next(await almoner('status', last))).toContain(`almoner dead retry --batch ${last}`);
  const none = await almoner('dead', 'list', '--batch', batch);
  expect(none.stdout).toContain('No dead letter is left. 2 were discarded or put into another file.');
  expect((await almoner('dead', 'list', '--all', '--batch', batch)).stdout).toMatch(/^2 dead letters/);
});

test('numbers are in words that fit them, and only batches that paid are counted', async () => {
  const fresh = await Program.start({
    store: 'own',
    members: [1, 2, 3].map((n) => ({ member: String(n), tokens: 0 })),
  });
  const run = async (csv: string, ...options: string[]) =>
    typed(['run', await fresh.file('a.csv', csv), '--yes', ...options], {
      env: fresh.env,
      cwd: fresh.folder,
    });
  const paid = await run('member,tokens\n1,5\n');
  expect(paid.stdout).toMatch(/To send +1 order: give 5 · net \+5 tokens\n/);
  expect(paid.stdout).toMatch(/: 1 request, (about|less than)/);
  expect(paid.stdout).toMatch(/^ {2}1 request, 0 retries$/m);
  expect((await run('member,tokens\n99,5\n')).stdout).toContain(
    '1 order paid to this realm in 1 batch, the last begun on ',
  );
  const two = 'member,tokens\n2,5\n3,1\n';
  const some = await run(two, '--first', '1');
  expect(some.stdout).toContain('1 order paid to this realm in 1 batch, the last begun on ');
  expect(some.stdout).toContain('The first order is through');
  expect((await run(two)).stdout).toContain('almoner resumed it. Nobody is paid twice.');
  expect((await run('member,tokens\n1,7\n2,7\n')).stdout).toContain(
    '3 orders paid to this realm in 2 batches',
  );
  await fresh.end();
});
