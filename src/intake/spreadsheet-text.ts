/**
 * The two disguises that text wears because of spreadsheets.
 *
 * Our own reports put a ' before a text cell that a spreadsheet would run as a formula; reading takes exactly
 * one off again, so that a row keeps its content however often it goes through a report. A cell that already
 * begins with such a ' gets another one when written, which makes the pair reversible.
 */
const DEFUSED = /^'+[=+\-@\t\r]/;

export function undefuse(cell: string): string {
  return cell.charCodeAt(0) === 0x27 && DEFUSED.test(cell) ? cell.slice(1) : cell;
}

const TEXT_FORMULA = /^="([^"]*)"$/;

/** `="119…"` is how exports keep a spreadsheet from rounding an id: the text between the quotes is meant. */
export function textOf(cell: string): string {
  return cell.charCodeAt(0) === 0x3d ? (TEXT_FORMULA.exec(cell)?.[1] ?? cell) : cell;
}
