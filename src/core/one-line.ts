/**
 * Cleans foreign text (an answer of the realm, a file name) for use in our sentences: one line, without characters
 * that control a terminal. A line end could forge a line of output or of a log. An escape sequence can rewrite the
 * screen. A change of direction shows digits in another order.
 */
export function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .trim();
}

// Colour sequences (ESC [ … m) come from almoner and pass, as do line ends and tabs.
const OBEYED =
  /\u001b(?!\[[0-9;]*m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** The last defence before a terminal: writes characters that a terminal obeys as `\uXXXX`. */
export function spelledOut(text: string): string {
  return text.replaceAll(OBEYED, escaped);
}

/** The same for text that holds none of almoner's colours: escape characters are spelt out too. */
export function spelledOutWhole(text: string): string {
  return spelledOut(text).replaceAll('\u001b', escaped);
}

/** The same for JSON text. Such characters occur only inside its strings, so the JSON stays valid. */
export function spelledOutJson(json: string): string {
  return json.replaceAll(/[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
