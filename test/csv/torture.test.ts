import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OPS } from '../../src/core/order.js';
import { type Reading, readBytes, readFileWhole } from './read-file.js';
import { TORTURE } from './torture-table.js';

const FOLDER = join(import.meta.dirname, '..', 'fixtures', 'csv');

function outcomeOf(reading: Reading): string {
  if (reading.faults.length > 0)
    return reading.faults.map(({ line, column, code }) => `${line}:${column ?? ''}:${code}`).join(' ');
  const totals = reading.through?.totals;
  if (totals === undefined) return 'nothing';
  const parts = OPS.filter((op) => totals.orders[op] > 0).map(
    (op) => `${op}=${totals.orders[op]}/${totals.tokens[op]}`,
  );
  if (totals.duplicates > 0) parts.push(`duplicates=${totals.duplicates}`);
  return `ok ${parts.join(' ')}`;
}

describe('the torture set', () => {
  it.each(TORTURE)('%s', async (file, outcome, warnings) => {
    const reading = await readFileWhole(join(FOLDER, file));
    expect(outcomeOf(reading)).toBe(outcome);
    if (outcome.startsWith('ok') && warnings !== '')
      expect(reading.warnings.map((warning) => warning.code).join(' ')).toBe(warnings);
    for (const finding of [...reading.faults, ...reading.warnings]) {
      expect(finding.message).toMatch(/[.?]$/);
      expect(finding.message.length).toBeLessThan(400);
    }
  });

  it('has at least sixty files, each with its outcome', async () => {
    const files = await readdir(FOLDER);
    expect(files.sort()).toEqual(TORTURE.map(([file]) => file).sort());
    expect(files.length).toBeGreaterThanOrEqual(60);
  });

  it('refuses a single cell of 10 MB by its line, with the faults of the rows before it', async () => {
    const cell = 'x'.repeat(10 * 1024 * 1024);
    const reading = await readBytes(`member,tokens,reason\n1,x,\n2,5,"${cell}"\n3,6,\n`);
    expect(outcomeOf(reading)).toBe('2:tokens:ALM_ROW_TOKENS_INVALID 3::ALM_FILE_RECORD_TOO_LARGE');
  });

  it('refuses a header of 10 MB', async () => {
    expect(outcomeOf(await readBytes(`member,${'x'.repeat(10 * 1024 * 1024)}`))).toBe(
      '1::ALM_FILE_RECORD_TOO_LARGE',
    );
  });

  it('refuses a million-blank cell without taking quadratic time', async () => {
    const reading = await readBytes(`member,tokens\n1${' '.repeat(1_000_000)}2,5\n`);
    expect(outcomeOf(reading)).toBe('2:member:ALM_ROW_ID_INVALID');
  });

  it('finds the line of a bad byte far inside a large file', async () => {
    const rows = Array.from({ length: 50_000 }, (_, index) => `${index + 1},5,Zoë\n`).join('');
    const bytes = Buffer.concat([Buffer.from(`member,tokens,name\n${rows}1,5,`), Buffer.from([0xe9, 10])]);
    expect(outcomeOf(await readBytes(bytes))).toBe('50002::ALM_FILE_ENCODING');
  });
});
