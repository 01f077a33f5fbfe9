import { access, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textField } from '../support/document.js';
import { type RealmAndOperator, startRealmAndOperator } from '../support/realm-and-operator.js';
import { until } from '../support/until.js';

/** The report of an imported batch is written by the workers when it ends, whatever happens to one of them then. */
let world: RealmAndOperator;
beforeAll(async () => {
  world = await startRealmAndOperator({ members: [{ member: '1', tokens: 100 }] });
});
afterAll(() => world.end());

const imported = async (name: string) => {
  await world.file(`${name}.csv`, `member,tokens,reference\n1,5,${name}\n404,6,${name}-lost\n`);
  return textField(await world.run('import', `${name}.csv`, '--yes', '--json'), 'batch');
};
const summary = (batch: string) => join(world.folder, 'reports', batch, 'summary.json');
const reported = (batch: string, timeoutMs = 60_000) =>
  until(
    'the report',
    () =>
      access(summary(batch)).then(
        () => true,
        () => false,
      ),
    timeoutMs,
  );
const isDone = async (batch: string) =>
  textField(await world.run('status', batch, '--json'), 'state') === 'done';

describe('an imported batch that ends', { timeout: 240_000 }, () => {
  it('has its report by itself, also with two workers, and again when it was retried', async () => {
    const workers = [world.start(['worker']), world.start(['worker'])];
    const batch = await imported('first');
    await reported(batch);
    expect(JSON.parse(await readFile(summary(batch), 'utf8'))).toMatchObject({
      state: 'done',
      counts: { paid: 1, refused: 1 },
      checks: { countsTie: true },
    });
    await world.admin.putMembers('town', [{ member: '404', tokens: 0 }]);
    await rm(summary(batch));
    expect((await world.run('dead', 'retry', '--batch', batch, '--json')).status).toBe(0);
    await reported(batch);
    expect(JSON.parse(await readFile(summary(batch), 'utf8'))).toMatchObject({ counts: { paid: 2 } });
    for (const worker of workers) await worker.kill();
  });

  it('is paid although the folder cannot be written, which is said, and reported by whoever comes after', async () => {
    await rm(join(world.folder, 'reports'), { recursive: true });
    await writeFile(join(world.folder, 'reports'), 'in the way');
    const batch = await imported('second');
    const worker = world.start(['worker']);
    await until('the end', () => isDone(batch), 60_000);
    await until(
      'a word about it',
      () => Promise.resolve(worker.stderr().includes('could not be written')),
      30_000,
    );
    expect(worker.stderr()).toContain(batch);
    const later = await imported('third');
    await until('the next one to be paid', () => isDone(later), 60_000);
    await worker.kill();
    await rm(join(world.folder, 'reports'));
    world.start(['worker']);
    await reported(batch);
    await reported(later);
  });
});
