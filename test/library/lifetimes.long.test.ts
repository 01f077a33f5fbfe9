import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { PayRow } from '../../src/index.js';
import { Program } from '../support/program/program.js';
import { openLibrary } from './open-library.js';

const MEMBER = '300000000000000000';
const rowOf = (event: string): PayRow[] => [{ member: MEMBER, tokens: 1, reference: event }];

test('the journals of many payments stay within their budget', async () => {
  const world = await Program.start({ members: [{ member: MEMBER, tokens: 0 }] });
  onTestFinished(() => world.end());
  await world.file('tight.yaml', 'limits: {journalMegabytes: 1}\n');
  const tight = await openLibrary(world.env, { cwd: world.folder, config: 'tight.yaml' });
  const journals = async () =>
    (await readdir(join(world.folder, 'data', 'journal'))).filter((name) => name.endsWith('.journal'));
  await tight.pay({ rows: rowOf('first') });
  for (let event = 0; (await journals()).length < 32; event++)
    await tight.pay({ rows: rowOf(`fill-${event}`) });
  for (let event = 0; event < 5; event++) await tight.pay({ rows: rowOf(`over-${event}`) });
  expect((await journals()).length).toBeLessThanOrEqual(33);
  await tight.close();
});
