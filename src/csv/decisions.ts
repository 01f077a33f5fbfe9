import { AlmonerError } from '../core/errors/error.js';
import { undefuse } from '../core/formula-cells.js';
import { headerKey } from './columns.js';
import { readHeaderLine, splitHeader } from './header.js';
import { INTAKE_LIMITS, openSource } from './open.js';
import { isBlank, readRecords, recordFaults } from './records.js';
import { BrokenFile, type Finding } from './row.js';

/**
 * A row of a doubt.csv that a person has filled in. `almoner_order` names the order, `almoner_doubt` its doubt, and
 * `decision` holds paid, unpaid or nothing. The input may have its own column `decision`; almoner's column comes
 * after it, so the last one counts.
 */
export type DecisionLine = {
  readonly line: number;
  readonly order: string;
  /** Empty if the order was not in doubt when the file was written. */
  readonly doubt: string;
  readonly decision: string;
};

const ORDER = 'almoner_order';
const DOUBT = 'almoner_doubt';
const DECISION = 'decision';

/** Reads the decisions of a doubt.csv. A single faulty row refuses the whole file. */
export async function readDecisions(file: string): Promise<DecisionLine[]> {
  const source = await openSource(file);
  try {
    const head = await readHeaderLine(source.chunks(), INTAKE_LIMITS);
    const { delimiter, names } = splitHeader(head, (name) => headerKey(name) === ORDER);
    const keys = names.map(headerKey);
    const orderAt = keys.indexOf(ORDER);
    if (orderAt === -1)
      throw new AlmonerError(
        'ALM_BATCH_DECISIONS',
        `${source.name} has no column ${ORDER}; expected a doubt.csv of a report. Nothing was done.`,
      );
    const doubtAt = keys.indexOf(DOUBT);
    if (doubtAt === -1)
      throw new AlmonerError(
        'ALM_BATCH_DECISIONS',
        `${source.name} has no column ${DOUBT}, so it does not say which doubt a decision is about. Nothing was done.`,
        { next: 'Write the file again with `almoner report BATCH`, and fill in the decisions there.' },
      );
    const decisionAt = keys.lastIndexOf(DECISION);
    const lines: DecisionLine[] = [];
    const faults: Finding[] = [];
    const records = readRecords(source.chunks(), delimiter, INTAKE_LIMITS, (line, cells, flaw) => {
      if (line <= head.line || isBlank(cells)) return undefined;
      faults.push(...recordFaults(names, line, cells, flaw));
      const cell = (at: number) => undefuse(cells[at] ?? '').trim();
      return {
        line,
        order: cell(orderAt),
        doubt: cell(doubtAt),
        decision: cell(decisionAt).toLowerCase(),
      };
    });
    for await (const block of records) lines.push(...block);
    if (faults.length > 0) throw faulty(source.name, faults);
    return lines;
  } catch (error) {
    if (error instanceof BrokenFile)
      throw new AlmonerError(error.finding.code, `${error.finding.message} Nothing was done.`);
    throw error;
  } finally {
    await source.close();
  }
}

/** Refuses the whole file. In a row with shifted cells, a `paid` could apply to another order. */
function faulty(name: string, faults: readonly Finding[]): AlmonerError {
  const details = faults.map(({ line, column, code, message }) => {
    return `line ${line}${column === null ? '' : `, ${column}`}: ${message} [${code}]`;
  });
  return new AlmonerError(
    'ALM_BATCH_DECISIONS',
    `${name} has ${faults.length === 1 ? 'a row that cannot' : `${faults.length} rows that cannot`} be read. Nothing was done.`,
    { details: details.slice(0, 50) },
  );
}
