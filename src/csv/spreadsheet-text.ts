const TEXT_FORMULA = /^="([^"]*)"$/;

/** `="119…"` is how exports keep a spreadsheet from rounding an id: the text between the quotes is meant. */
export function textOf(cell: string): string {
  return cell.charCodeAt(0) === 0x3d ? (TEXT_FORMULA.exec(cell)?.[1] ?? cell) : cell;
}
