import { parse } from 'csv-parse/sync';
import { AlmonerError } from '../core/errors/error.js';
import { undefuse } from '../core/formula-cells.js';
import { BrokenFile } from './broken-file.js';
import { headerKey } from './columns.js';
import { type HeaderLine, readHeaderLine } from './header-line.js';
import { INTAKE_LIMITS } from './limits.js';
import { openSource } from './open.js';
import { readRecords } from './records.js';
import type { Delimiter } from './row.js';

/**
 * A doubt.csv that a person went through: `almoner_order` names the order, `decision` says paid or unpaid, or
 * nothing. The input may have had a column `decision` of its own; ours stands behind it, so the last counts.
 */
export type DecisionLine = { readonly line: number; readonly order: string; readonly decision: string };

const ORDER = 'almoner_order';
const DECISION = 'decision';

export async function readDecisions(file: string): Promise<DecisionLine[]> {
  const source = await openSource(file);
  try {
    const head = await readHeaderLine(source.chunks(), INTAKE_LIMITS);
    const { delimiter, keys } = headerOf(head, source.name);
    const orderAt = keys.indexOf(ORDER);
    const decisionAt = keys.lastIndexOf(DECISION);
    const lines: DecisionLine[] = [];
    const records = readRecords(source.chunks(), delimiter, INTAKE_LIMITS, (line, cells) => {
      if (line <= head.line || cells.every((cell) => cell.trim() === '')) return undefined;
      const cell = (at: number) => undefuse(cells[at] ?? '').trim();
      return { line, order: cell(orderAt), decision: cell(decisionAt).toLowerCase() };
    });
    for await (const block of records) lines.push(...block);
    return lines;
  } catch (error) {
    if (error instanceof BrokenFile)
      throw new AlmonerError(error.finding.code, `${error.finding.message} Nothing was done.`);
    throw error;
  } finally {
    await source.close();
  }
}

/** The delimiter is the one under which the order's column has its name. */
function headerOf(head: HeaderLine, name: string): { delimiter: Delimiter; keys: string[] } {
  const candidates = head.delimiter === null ? ([',', ';', '\t'] as const) : [head.delimiter];
  for (const delimiter of candidates) {
    const records: unknown = parse(head.text, { delimiter, relax_quotes: true });
    const first: unknown = Array.isArray(records) ? records[0] : undefined;
    const keys = Array.isArray(first) ? first.map((cell) => headerKey(undefuse(String(cell)))) : [];
    if (keys.includes(ORDER)) return { delimiter, keys };
  }
  throw new AlmonerError(
    'ALM_BATCH_DECISIONS',
    `${name} has no column ${ORDER}; expected a doubt.csv of a report. Nothing was done.`,
  );
}
