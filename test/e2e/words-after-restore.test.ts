import { afterEach, beforeEach, expect, test } from 'vitest';
import { Program } from '../support/program/program.js';

/** What a restore and `recover` say of one recovery, and of no other. */
const fileOf = (name: string) => `member,tokens,reference\n1,5,${name}-1\n2,7,${name}-2\n`;

let world: Program;
beforeEach(async () => {
  world = await Program.start({ store: 'embedded', realm: 'embedded' });
  for (const name of ['open', 'since', 'later']) await world.file(`${name}.csv`, fileOf(name));
});
afterEach(() => world.end());

async function said(status: number, ...args: string[]) {
  const ran = await world.run(...args);
  expect(ran.status, `${args.join(' ')}: ${ran.stdout}${ran.stderr}`).toBe(status);
  return ran.stdout;
}

const happened = (stdout: string) => stdout.match(/^ {2}The store .*$/m)?.[0];

test('each restore is told as itself, and a file that waits is not said to go on', async () => {
  await said(0, 'import', 'open.csv', '--yes');
  await said(0, 'backup', 'first');
  await said(0, 'run', 'since.csv', '--yes');
  const first = await said(0, 'restore', 'first', '--yes');
  expect(first).toMatch(
    /The store had forgotten everything since \S+Z\. The journals restored 2 orders and recovered 1 batch\.\n/,
  );
  expect(first).toContain('This decision then starts 1 batch and all schedules.');

  const waits = await said(5, 'run', 'open.csv', '--yes');
  expect(waits).toMatch(/This file is batch \w+\. It is halted; nothing was sent\.\n/);
  expect(waits).not.toContain('went on');
  // Asked again it tells the same recovery, as long as a person has to decide about it.
  expect(happened(await said(0, 'recover'))).toBe(happened(first));

  await said(0, 'resume', '--after-rollback');
  expect(await said(0, 'recover')).toMatch(
    /forgotten nothing that the journals here know of\. Earlier, at \S+Z: The store had forgotten everything/,
  );

  // The backup holds the story of the first restore.
  const { at } = JSON.parse(await said(0, 'backup', 'second', '--json'));
  await said(0, 'run', 'later.csv', '--yes');
  const second = await said(0, 'restore', 'second', '--yes');
  expect(second).toContain(`forgotten everything since ${at}.`);
  expect(second).toContain('The journals restored 2 orders and recovered 1 batch.');
});
