/**
 * Keeps spreadsheets from running cells of a report as formulas. A person opens a report with a double click, so text
 * from a `reason` column must not execute. The same file must also read back unchanged when it is run again. Writing
 * therefore adds one apostrophe, and reading removes exactly one.
 *
 * Quotes do not protect a cell. A spreadsheet that splits by another delimiter treats quotes as text and cuts the
 * cell at `;`, tab or line end, or at blanks if told to. So every piece that would run also gets an apostrophe. The
 * apostrophe in front of the whole cell tells ours from those that people wrote.
 *
 * Text that already looks protected gets one more apostrophe of each kind. Otherwise `'=1` and `=1` would be written
 * the same. Plain numbers stay as they are: `-5` is an amount, and a spreadsheet must be able to add it up.
 */

/**
 * Characters that spreadsheets skip before a formula: blanks, control characters and stray quotes. Wide signs also
 * start formulas.
 */
const DROPPED = String.raw`(?:(?![\t\r\n])[\s\p{Cc}\p{Cf}"])*`;
const SIGN = '[=+\\-@＝＋－＠]';
const RUNS = new RegExp(`^'*(?:[\\t\\r]|${DROPPED}${SIGN})`, 'u');
/**
 * After a blank, only a sign followed by a call or link counts: prose is full of dashes, and of names after an `@`.
 */
const BEHIND_BLANK = String.raw` [\p{Cf}"]{0,4}`;
const PIECE = new RegExp(
  `([,;|\\t\\r\\n]${DROPPED}(?='*${SIGN})|${BEHIND_BLANK}(?='*${SIGN}\\S*[(|!]))('*)`,
  'gu',
);
const HAS_SIGN = new RegExp(`^'*[\\t\\r]|${SIGN}`, 'u');
const PLAIN_NUMBER = /^-?[0-9]+([.,][0-9]+)?$/;

/** Returns the cell in a form that a spreadsheet does not run. */
export function defuse(cell: string): string {
  if (!HAS_SIGN.test(cell) || PLAIN_NUMBER.test(cell)) return cell;
  const pieces = cell.replace(PIECE, "$1'$2");
  return pieces !== cell || RUNS.test(cell) ? `'${pieces}` : cell;
}

/** Returns the cell as it was before `defuse`. Header cells need it too. */
export function undefuse(cell: string): string {
  if (!cell.startsWith("'") || !HAS_SIGN.test(cell)) return cell;
  let found = RUNS.test(cell);
  const pieces = cell.replace(PIECE, (_, before: string, quotes: string) => {
    found = true;
    return before + quotes.slice(1);
  });
  return found ? pieces.slice(1) : cell;
}
