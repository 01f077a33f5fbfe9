/**
 * Cells that a spreadsheet would run as a formula. A report that a person opens with a double click must not
 * execute what somebody wrote into a `reason` column, and the same file must come back as it was when it is
 * run again. So one apostrophe is put in front when writing and exactly one is taken away when reading.
 *
 * Text that already looks defused gets one more apostrophe; without that `'=1` and `=1` would be written
 * alike and could not be told apart afterwards. Plain numbers are left alone: `-5` is an amount, and a
 * spreadsheet that cannot add up the amounts is of no use.
 */

const RUNS_OR_LOOKS_DEFUSED = /^'*[=+\-@\t\r]/;
const LOOKS_DEFUSED = /^'+[=+\-@\t\r]/;
const PLAIN_NUMBER = /^-?[0-9]+([.,][0-9]+)?$/;

/** The cell as it may stand in a file that a spreadsheet opens. */
export function defuse(cell: string): string {
  return RUNS_OR_LOOKS_DEFUSED.test(cell) && !PLAIN_NUMBER.test(cell) ? `'${cell}` : cell;
}

/** The cell as it was before `defuse`; header cells need it too. */
export function undefuse(cell: string): string {
  return LOOKS_DEFUSED.test(cell) ? cell.slice(1) : cell;
}
