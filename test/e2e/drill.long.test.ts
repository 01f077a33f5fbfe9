import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { auditByContent } from '../support/program/auditor.js';
import { Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { codeUnder } from '../support/readme.js';

const ROWS = 9;
const FILES = ['paid', 'open', 'since'].map((name, i) => ({ name, ...uniqueRows(ROWS, i * ROWS) }));

let world: Program;

beforeEach(async () => {
  // The realm keeps its record in a Redis of its own, which the restore does not touch. It honours no key.
  world = await Program.start({
    store: 'embedded',
    network: true,
    certainty: 'manual',
    members: FILES.flatMap(({ seeds }) => seeds),
    profile: {},
  });
});

afterEach(() => world.end());

test('the drill of docs/operations.md, word for word: every row is paid, and nobody twice', async () => {
  const [drill, ...more] = codeUnder('docs/operations.md', 'Backup and restore', 'sh');
  expect(more).toEqual([]);
  const lines = (drill ?? '').trim().split('\n');
  expect(lines.length).toBeLessThanOrEqual(10);
  for (const { name, csv } of FILES) await world.file(`${name}.csv`, csv);
  const batches = new Set<string>();
  for (const line of lines) {
    const [program, ...args] = line.split(' ');
    expect(program).toBe('almoner');
    const started = world.start([...args, '--json']);
    expect(await started.ended, `${line}: ${started.stdout()}${started.stderr()}`).toBe(0);
    const { batch } = JSON.parse(started.stdout());
    if (args[0] === 'run') batches.add(batch);
  }
  expect(batches.size).toBe(FILES.length);
  const applied = await world.applied();
  for (const batch of batches)
    expect(await auditByContent(applied, join(world.folder, 'reports'), batch)).toEqual({
      states: { paid: ROWS },
      wrong: [],
    });
  expect(applied.length).toBe(FILES.length * ROWS);
});
