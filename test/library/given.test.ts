import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Almoner } from '../../src/index.js';
import { endServerOf } from '../support/store-program.js';
import { listed, openBooks } from './open-books.js';

/** What a program gives is read once, within the call, and refused before anything is done. */
let folder: string;
let almoner: Almoner;
const env = () => ({ HOME: folder, ALMONER_DATA: join(folder, 'data') });
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almoner-given-'));
  almoner = await openBooks(env(), { cwd: folder });
});
afterAll(async () => {
  await almoner.close();
  await endServerOf(join(folder, 'data'));
  await rm(folder, { recursive: true, force: true });
});

const ANN = '119837460192837465';

describe('what is paid is what was given when the call was made', () => {
  test('whatever becomes of the list and its rows afterwards', async () => {
    const rows = [
      { member: ANN, tokens: 1, reference: 'kept-1' },
      { member: ANN, tokens: 2, reference: 'kept-2' },
    ];
    const paying = almoner.pay({ rows });
    for (const row of rows) row.tokens = 1000;
    rows.length = 1;
    const { batch, counts, tokens } = await paying;
    expect([counts, tokens]).toEqual([{ paid: 2 }, { paid: '3' }]);
    expect(await listed(almoner.results(batch))).toMatchObject([{ tokens: 1 }, { tokens: 2 }]);
  });
});
