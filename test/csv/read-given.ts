import { INTAKE_LIMITS } from '../../src/csv/open.js';
import { readProgramRows } from '../../src/csv/program-rows.js';
import type { Row } from '../../src/csv/row.js';
import { takeRows } from '../../src/csv/take-rows.js';

export const RULES = { realms: ['guild', '777'], currency: null, maxTokensPerOrder: null };

/** Rows that a program gives, read to the end. */
export async function readGiven(rows: readonly unknown[], limits = INTAKE_LIMITS): Promise<readonly Row[]> {
  const sheet = readProgramRows(takeRows(rows), RULES, limits);
  if ('faults' in sheet) throw new Error(sheet.faults.map(({ code }) => code).join());
  const found: Row[] = [];
  for await (const block of sheet.blocks) found.push(...block);
  return found;
}
