/**
 * Cells that a spreadsheet would run as a formula. A report that a person opens with a double click must not
 * execute what somebody wrote into a `reason` column, and the same file must come back as it was when it is
 * run again. So one apostrophe is put in front when writing and exactly one is taken away when reading.
 *
 * Quotes do not keep a cell together: a spreadsheet that splits by another delimiter than the file's takes
 * them for text and cuts the cell at every `;`, tab or line end, or, told so, at every blank. So each piece that would
 * run gets an apostrophe too; the one in front of the whole cell tells ours from those that people wrote.
 *
 * Text that already looks defused gets one more of each; without that `'=1` and `=1` would be written alike
 * and could not be told apart afterwards. Plain numbers are left alone: `-5` is an amount, and a spreadsheet
 * that cannot add up the amounts is of no use.
 */

/** Spreadsheets drop blanks, control characters and stray quotes in front, and know the wide signs too. */
const DROPPED = String.raw`(?:(?![\t\r\n])[\s\p{Cc}\p{Cf}"])*`;
const SIGN = '[=+\\-@＝＋－＠]';
const RUNS = new RegExp(`^'*(?:[\\t\\r]|${DROPPED}${SIGN})`, 'u');
/** What counts behind a blank is only what calls or links something: prose is full of dashes, and of names behind an `@`. */
const BEHIND_BLANK = String.raw` [\p{Cf}"]{0,4}`;
const PIECE = new RegExp(
  `([,;|\\t\\r\\n]${DROPPED}(?='*${SIGN})|${BEHIND_BLANK}(?='*${SIGN}\\S*[(|!]))('*)`,
  'gu',
);
const HAS_SIGN = new RegExp(`^'*[\\t\\r]|${SIGN}`, 'u');
const PLAIN_NUMBER = /^-?[0-9]+([.,][0-9]+)?$/;

/** The cell as it may stand in a file that a spreadsheet opens. */
export function defuse(cell: string): string {
  if (!HAS_SIGN.test(cell) || PLAIN_NUMBER.test(cell)) return cell;
  const pieces = cell.replace(PIECE, "$1'$2");
  return pieces !== cell || RUNS.test(cell) ? `'${pieces}` : cell;
}

/** The cell as it was before `defuse`; header cells need it too. */
export function undefuse(cell: string): string {
  if (!cell.startsWith("'") || !HAS_SIGN.test(cell)) return cell;
  let found = RUNS.test(cell);
  const pieces = cell.replace(PIECE, (_, before: string, quotes: string) => {
    found = true;
    return before + quotes.slice(1);
  });
  return found ? pieces.slice(1) : cell;
}
