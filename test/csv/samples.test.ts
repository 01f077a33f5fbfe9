import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readFileWhole } from './read-file.js';

const JOBS = join(import.meta.dirname, '..', '..', 'jobs');

it.each([
  ['airdrop.csv', { credit: 200, debit: 0, transfer: 0 }, 200],
  ['transfers.csv', { credit: 0, debit: 0, transfer: 40 }, 80],
] as const)(
  'the sample %s is clean: no fault, no warning, a reference on every row',
  async (file, orders, members) => {
    const { faults, warnings, through } = await readFileWhole(join(JOBS, file));
    expect([...faults, ...warnings]).toEqual([]);
    expect(through?.totals).toMatchObject({ orders, members, duplicates: 0 });
  },
);
