import { isAlmonerError } from '../core/errors/error.js';
import { undefuse } from '../core/formula-cells.js';
import { show } from '../core/visible.js';
import { BrokenFile } from '../csv/broken-file.js';
import { columnNamed, headerKey } from '../csv/columns.js';
import { type HeaderLine, headerCells, openQuote, readHeaderLine } from '../csv/header-line.js';
import { INTAKE_LIMITS } from '../csv/limits.js';
import { readMemberCell } from '../csv/member-cell.js';
import { openSource, type Source } from '../csv/open.js';
import { readRecords } from '../csv/records.js';
import type { Delimiter } from '../csv/row.js';
import { AUDIENCE_MEMBERS_MAX, type AudienceRow } from './audience-row.js';
import type { RuleFault } from './fault.js';

/**
 * An audience as a CSV: a column `member` and any others, read with the guards of an order file (encoding,
 * quotes, ids), all of it into memory.
 */
export async function readAudienceCsv(
  path: string,
  file: string,
): Promise<
  | { readonly columns: readonly string[]; readonly rows: readonly AudienceRow[] }
  | { readonly faults: readonly RuleFault[] }
> {
  const faults: RuleFault[] = [];
  const fault = (line: number, column: number, message: string) =>
    faults.push({ file, line, column, code: 'ALM_RULE_AUDIENCE', message });
  let source: Source | undefined;
  try {
    source = await openSource(path);
    return await read(source, fault, faults);
  } catch (error) {
    if (!isAlmonerError(error)) throw error;
    const line = error instanceof BrokenFile ? error.finding.line : 0;
    const message = error.message.replaceAll(path, file);
    return { faults: [...faults, { file, line, column: Math.min(line, 1), code: error.code, message }] };
  } finally {
    await source?.close();
  }
}

async function read(
  source: Source,
  fault: (line: number, column: number, message: string) => void,
  faults: readonly RuleFault[],
) {
  const head = await readHeaderLine(source.chunks(), INTAKE_LIMITS);
  const { delimiter, names } = splitHeader(head);
  const memberAt = names.findIndex((name) => columnNamed(name) === 'member');
  if (memberAt === -1) {
    fault(
      head.line,
      1,
      `The header has no column \`member\`; it has ${names.map((name) => show(name)).join(', ')}.`,
    );
    return { faults };
  }
  const twice = names.findIndex(
    (name, at) => names.findIndex((one) => headerKey(one) === headerKey(name)) < at,
  );
  if (twice !== -1) fault(head.line, 1, `The column ${show(names[twice] ?? '')} stands twice in the header.`);
  const rows: AudienceRow[] = [];
  const blocks = readRecords(source.chunks(), delimiter, INTAKE_LIMITS, (line, cells, flaw): null => {
    if (line <= head.line || cells.every((text) => text.trim() === '')) return null;
    const member = readMemberCell(undefuse(cells[memberAt] ?? ''));
    if (flaw !== 0) fault(line, 1, 'The row has quotes or line ends where none may stand.');
    else if (cells.length < names.length || cells.slice(names.length).some((text) => text.trim() !== ''))
      fault(line, 1, `The row has ${cells.length} cells, the header ${names.length}.`);
    else if (typeof member !== 'string') fault(line, memberAt + 1, member.message);
    else rows.push({ member, line, cells: cells.slice(0, names.length).map((text) => undefuse(text)) });
    return null;
  });
  for await (const _ of blocks) {
    if (faults.length >= FAULTS_MAX) break;
    if (rows.length > AUDIENCE_MEMBERS_MAX) {
      fault(0, 0, `The audience has more than ${AUDIENCE_MEMBERS_MAX} members.`);
      break;
    }
  }
  const columns = names.map((name, at) => (at === memberAt ? 'member' : name.trim()));
  return faults.length > 0 ? { faults } : { columns, rows };
}

const FAULTS_MAX = 50;

/** The header of an audience: the delimiter that a `sep=` line names, else the one that shows a member column. */
function splitHeader(head: HeaderLine): {
  readonly delimiter: Delimiter;
  readonly names: readonly string[];
} {
  const candidates: readonly Delimiter[] = head.delimiter === null ? [',', ';', '\t'] : [head.delimiter];
  const splits = candidates.flatMap((delimiter) => {
    const names = headerCells(head.text, delimiter);
    return names === undefined ? [] : [{ delimiter, names }];
  });
  const [first] = splits;
  if (first === undefined) throw openQuote(head.line);
  const score = (names: readonly string[]) =>
    (names.some((name) => columnNamed(name) === 'member') ? 1000 : 0) + Math.min(names.length, 999);
  return splits.reduce((best, one) => (score(one.names) > score(best.names) ? one : best), first);
}
