import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { document, textField } from '../support/document.js';
import { Program } from '../support/program/program.js';

let world: Program;
let batch: string;
beforeAll(async () => {
  world = await Program.start({ members: [{ member: '1', tokens: 100 }] });
  await world.file('pay.csv', 'member,tokens,reference,reason\n1,5,secret-ref,won\n404,6,b,lost\n');
  batch = textField(await world.run('import', 'pay.csv', '--yes', '--json'), 'batch');
});
afterAll(() => world.end());

it('writes the report before anything was sent, and the same bytes again after the end', {
  timeout: 120_000,
}, async () => {
  const early = await world.run('report', 'last', '--out', 'early', '--json');
  expect([early.status, document(early)]).toMatchObject([
    0,
    { batch, rehearsal: false, public: false, report: join(world.folder, 'early', batch) },
  ]);
  expect(await readFile(join(world.folder, 'early', batch, 'unprocessed.csv'), 'utf8')).toContain(
    'secret-ref',
  );

  expect((await world.run('run', 'pay.csv', '--yes')).status).toBe(4);
  for (const out of ['one', 'two']) expect((await world.run('report', batch, '--out', out)).status).toBe(0);
  const read = async (out: string) => {
    const folder = join(world.folder, out, batch);
    const names = (await readdir(folder)).sort();
    return Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')]));
  };
  const files = await read('one');
  expect(files.map(([name]) => name)).toContain('results.csv');
  expect(await read('two')).toEqual(files);
  const person = await world.run('report', batch);
  expect(person.stdout).toContain(`Next: open ${join(world.folder, 'reports', batch)}/report.html`);
});

it('writes a public report that holds no reference', { timeout: 120_000 }, async () => {
  const ran = await world.run('report', batch, '--public', '--out', 'shown', '--json');
  const folder = textField(ran, 'report');
  expect([ran.status, document(ran)]).toMatchObject([0, { public: true }]);
  const person = await world.run('report', batch, '--public', '--out', 'shown');
  const [, named = ''] = /^Next: open (.+)$/m.exec(person.stdout) ?? [];
  expect(await readFile(named, 'utf8')).toContain('Points of our members');
  for (const name of await readdir(folder))
    expect(await readFile(join(folder, name), 'utf8')).not.toContain('secret-ref');
});

it('names a batch that is not there', { timeout: 120_000 }, async () => {
  const ran = await world.run('report', 'nonsense', '--json');
  expect([ran.status, document(ran)]).toMatchObject([2, { error: { code: 'ALM_BATCH_NOT_FOUND' } }]);
});
