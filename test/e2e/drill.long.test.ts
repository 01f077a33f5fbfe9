import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { auditByContent } from '../support/program/auditor.js';
import { Program, type ProgramOptions } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { codeUnder } from '../support/readme.js';

const ROWS = 9;
const FILES = ['paid', 'open', 'since'].map((name, i) => ({ name, ...uniqueRows(ROWS, i * ROWS) }));

const PAGE = 'docs/how-to/store-and-recovery.md';
const [leave, drill, lost, ...more] = codeUnder(PAGE, 'Try a restore first', 'sh').map((code) =>
  code.trim().split('\n'),
);

let world: Program;

const start = async (options: ProgramOptions) => {
  world = await Program.start({ store: 'embedded', ...options });
  for (const { name, csv } of FILES) await world.file(`${name}.csv`, csv);
};

afterEach(() => world.end());

/** Runs a line of the document, as a process; answers its JSON. A remark says how it ends where that is not well. */
async function typed(line: string) {
  const [command = '', exit = '0'] = line.split(/ +# exit /);
  const [program, ...args] = command.split(' ');
  expect(program).toBe('almoner');
  const started = world.start([...args, '--json']);
  expect(await started.ended, `${line}: ${started.stdout()}${started.stderr()}`).toBe(Number(exit));
  return { args, json: JSON.parse(started.stdout()) };
}

test('the drill of the page about the store, word for word: every row is paid once', async () => {
  // The realm keeps its record in a Redis of its own, which the restore does not touch. It honours no key.
  const members = FILES.flatMap(({ seeds }) => seeds);
  await start({ network: true, certainty: 'manual', members, profile: {} });
  // First it leaves the realm and the data folder that are configured.
  expect([leave, more]).toEqual([
    [
      'unset ALMONER_REALM_URL ALMONER_REALM_ID ALMONER_API_KEY ALMONER_API_KEY_FILE REDIS_URL',
      'export ALMONER_DATA="$PWD/drill-data" ALMONER_STATE="$PWD/drill-state"',
    ],
    [],
  ]);
  expect(drill?.length).toBeLessThanOrEqual(10);
  const batches = new Set<string>();
  for (const line of drill ?? []) {
    const { args, json } = await typed(line);
    if (args[0] === 'run') batches.add(json.batch);
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

test('the drill of the lost folder, word for word: what was open at the backup is a doubt', async () => {
  await start({ realm: 'embedded' });
  for (const line of drill?.slice(0, 3) ?? []) await typed(line);
  const [move, ...commands] = lost ?? [];
  expect(move).toBe('mv drill-data drill-data-lost');
  await rename(join(world.folder, 'data'), join(world.folder, 'data-lost'));
  const told = [];
  for (const line of commands) told.push((await typed(line)).json);
  expect(told[1].stories[0].waitsFor[0]).toContain('If it is lost, choose one of the decisions below');
  expect(told.at(-1).orders).toHaveLength(ROWS);
  expect(told.at(-1).orders[0]).toMatchObject({ state: 'doubt', class: 'ALM_SEND_STORE_LOST' });
});
