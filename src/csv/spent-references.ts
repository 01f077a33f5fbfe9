import type { Column } from '../core/columns.js';
import { AlmonerError } from '../core/errors/error.js';
import { undefuse } from '../core/formula-cells.js';
import { UNDO } from '../core/ids.js';
import { inverseOf, type Order } from '../core/order.js';
import { contentDigest } from '../core/reference.js';
import { show } from '../core/visible.js';
import { readMemberCell, readReferenceCell, readTokensCell } from './cells.js';
import { columnNamed, headerKey, type OWN_COLUMNS } from './columns.js';
import { readHeaderLine, splitHeader } from './header.js';
import { INTAKE_LIMITS, openSource } from './open.js';
import { readOpCell } from './read-row.js';
import { isBlank, readRecords, recordFaults } from './records.js';
import { BrokenFile } from './row.js';

/**
 * A row of a file whose references were paid elsewhere: a paid.csv of another ledger, or any CSV with a column
 * `reference`. If its other columns say what was paid, this is kept with the reference.
 */
type SpentLine = {
  readonly line: number;
  readonly reference: string;
  readonly order: Order | null;
  /** The order's id in the ledger that paid it, if the file has one. */
  readonly id: string | null;
};

/** The references of one file, and the number of rows that were skipped. */
export type SpentFile = {
  readonly name: string;
  readonly lines: readonly SpentLine[];
  /** Rows that were skipped: without a reference, not paid, or undone by another row. */
  readonly skipped: { readonly bare: number; readonly unpaid: number; readonly undone: number };
};

/**
 * Reads the files without the orders that a paid undo in any of them took back. Such an undo has freed their
 * references.
 */
export async function readSpentFiles(paths: readonly string[]): Promise<SpentFile[]> {
  const files = await Promise.all(paths.map(readSpentReferences));
  const undos = new Map<string, Order | null>();
  const rowsOf = new Map<string, number>();
  for (const { id, reference, order } of files.flatMap(({ lines }) => lines)) {
    if (reference.startsWith(UNDO)) undos.set(reference.slice(UNDO.length), order);
    if (id !== null) rowsOf.set(id, (rowsOf.get(id) ?? 0) + 1);
  }
  /**
   * The undo must move the same points back, and its id must occur in a single row. If two ledgers paid one file,
   * both have the same ids, and one undo took back only one of the two payments.
   */
  const isUndone = ({ id, order }: SpentLine) => {
    const undo = id === null || rowsOf.get(id) !== 1 ? undefined : undos.get(id);
    return !!undo && order !== null && contentDigest(inverseOf(order)) === contentDigest(undo);
  };
  return files.map((file) => {
    const lines = file.lines.filter((line) => !isUndone(line));
    return { ...file, lines, skipped: { ...file.skipped, undone: file.lines.length - lines.length } };
  });
}

/** References under which the files name different orders, with the lines of the first two. */
export function differingReferences(files: readonly SpentFile[]): string[] {
  const first = new Map<string, { readonly digest: string; readonly at: string }>();
  const differing = new Map<string, string>();
  for (const { name, lines } of files)
    for (const { line, reference, order } of lines) {
      if (order === null) continue;
      const [digest, at] = [contentDigest(order), `${name} line ${line}`];
      const earlier = first.get(reference);
      if (earlier === undefined) first.set(reference, { digest, at });
      else if (earlier.digest !== digest && !differing.has(reference))
        differing.set(reference, `${show(reference)}: ${earlier.at}, ${at}`);
    }
  return [...differing.values()];
}

/** Reads the references of one file, with their orders if its columns show what was paid. */
async function readSpentReferences(file: string): Promise<SpentFile> {
  const source = await openSource(file);
  try {
    const head = await readHeaderLine(source.chunks(), INTAKE_LIMITS);
    const { delimiter, names } = splitHeader(head, (name) => columnNamed(name) === 'reference');
    const placesOf = (column: Column) =>
      names.flatMap((name, index) => (columnNamed(name) === column ? [index] : []));
    const [referenceAt = -1, otherAt] = placesOf('reference');
    if (otherAt !== undefined) throw referenceTwice(source.name, names[referenceAt], names[otherAt]);
    const columns = contentColumns(placesOf);
    const own = (column: (typeof OWN_COLUMNS)[number]) => names.map(headerKey).lastIndexOf(column);
    const [orderAt, stateAt] = [own('almoner_order'), own('almoner_state')];
    if (referenceAt === -1)
      throw new AlmonerError(
        'ALM_FILE_COLUMN_MISSING',
        `${source.name} has no column reference. Nothing was done.`,
      );
    const lines: SpentLine[] = [];
    const faults: string[] = [];
    const skipped = { bare: 0, unpaid: 0, undone: 0 };
    const records = readRecords(source.chunks(), delimiter, INTAKE_LIMITS, (line, cells, flaw) => {
      if (line <= head.line || isBlank(cells)) return undefined;
      for (const { message } of recordFaults(names, line, cells, flaw))
        faults.push(`line ${line}: ${message}`);
      const cell = (index: number) => (index === -1 ? '' : undefuse(cells[index] ?? ''));
      if (stateAt !== -1 && cell(stateAt).trim() !== 'paid') skipped.unpaid += 1;
      else {
        const reference = readReferenceCell(cell(referenceAt));
        if (reference === null) skipped.bare += 1;
        else if (typeof reference !== 'string') faults.push(`line ${line}, reference: ${reference.message}`);
        else
          lines.push({
            line,
            reference,
            order: columns && orderOf(columns, cell),
            id: cell(orderAt).trim() || null,
          });
      }
      return undefined;
    });
    for await (const _ of records);
    if (faults.length > 0)
      throw new AlmonerError('ALM_PLAN_FAULTS', `${source.name} cannot be read as it is. Nothing was done.`, {
        details: faults.slice(0, 50),
      });
    return { name: source.name, lines, skipped };
  } catch (error) {
    if (error instanceof BrokenFile)
      throw new AlmonerError(error.finding.code, `${error.finding.message} Nothing was done.`);
    throw error;
  } finally {
    await source.close();
  }
}

function referenceTwice(file: string, first = '', second = ''): AlmonerError {
  return new AlmonerError(
    'ALM_FILE_COLUMN_TWICE',
    `${file}: columns ${show(first)} and ${show(second)} both mean reference. Nothing was done.`,
    { next: 'Remove or rename one of them.' },
  );
}

type Columns = Readonly<Record<'member' | 'tokens' | 'recipient' | 'op', number>>;

/**
 * Null if two columns have the same meaning. Which one counted was decided by a --map option that is no longer known.
 */
function contentColumns(placesOf: (column: Column) => readonly number[]): Columns | null {
  const all = {
    member: placesOf('member'),
    tokens: placesOf('tokens'),
    recipient: placesOf('recipient'),
    op: placesOf('op'),
  };
  if (Object.values(all).some((places) => places.length > 1)) return null;
  const {
    member: [member = -1],
    tokens: [tokens = -1],
    recipient: [recipient = -1],
    op: [op = -1],
  } = all;
  return { member, tokens, recipient, op };
}

/** Null if the row does not say what was paid. */
function orderOf(columns: Columns, cell: (index: number) => string): Order | null {
  const member = readMemberCell(cell(columns.member));
  const amount = readTokensCell(cell(columns.tokens), null);
  const recipient = cell(columns.recipient) === '' ? null : readMemberCell(cell(columns.recipient));
  const op = readOpCell(cell(columns.op));
  if (typeof member !== 'string' || 'code' in amount) return null;
  if ((recipient !== null && typeof recipient !== 'string') || (op !== null && typeof op !== 'string'))
    return null;
  const { amount: tokens } = amount;
  if (recipient !== null) return { op: 'transfer', member, recipient, tokens };
  return {
    op: (op ?? 'credit') === 'debit' || amount.negative ? 'debit' : 'credit',
    member,
    recipient,
    tokens,
  };
}
