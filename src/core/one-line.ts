/**
 * Text of strangers (a realm's words, a file's name) as it may stand in a sentence of ours: on one line, and
 * without what a terminal obeys. A line end could forge a line of output or of a log; an escape sequence can
 * rewrite what stands on the screen; a change of direction shows digits in another order.
 */
export function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .trim();
}

// Colours (ESC [ … m) are ours; line ends and tabs part lines and columns of ours.
const OBEYED =
  /\u001b(?!\[[0-9;]*m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** The last line of defence before a terminal: what it would obey is spelt out instead. */
export function spelledOut(text: string): string {
  return text.replaceAll(OBEYED, escaped);
}

/** The same for text that holds no colours of ours. */
export function spelledOutWhole(text: string): string {
  return spelledOut(text).replaceAll('\u001b', escaped);
}

/** JSON text with the same spelt out; outside its strings no such character stands. */
export function spelledOutJson(json: string): string {
  return json.replaceAll(/[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
