/**
 * Makes hidden characters readable. An id that looks equal but is not usually contains a character that no screen
 * shows.
 */

const HIDDEN: ReadonlyMap<number, string> = new Map([
  [0x00a0, 'NO-BREAK SPACE'],
  [0x00ad, 'SOFT HYPHEN'],
  [0x034f, 'COMBINING GRAPHEME JOINER'],
  [0x061c, 'ARABIC LETTER MARK'],
  [0x115f, 'HANGUL CHOSEONG FILLER'],
  [0x180e, 'MONGOLIAN VOWEL SEPARATOR'],
  [0x2007, 'FIGURE SPACE'],
  [0x2009, 'THIN SPACE'],
  [0x200b, 'ZERO WIDTH SPACE'],
  [0x200c, 'ZERO WIDTH NON-JOINER'],
  [0x200d, 'ZERO WIDTH JOINER'],
  [0x200e, 'LEFT-TO-RIGHT MARK'],
  [0x200f, 'RIGHT-TO-LEFT MARK'],
  [0x2028, 'LINE SEPARATOR'],
  [0x2029, 'PARAGRAPH SEPARATOR'],
  [0x202a, 'LEFT-TO-RIGHT EMBEDDING'],
  [0x202b, 'RIGHT-TO-LEFT EMBEDDING'],
  [0x202c, 'POP DIRECTIONAL FORMATTING'],
  [0x202d, 'LEFT-TO-RIGHT OVERRIDE'],
  [0x202e, 'RIGHT-TO-LEFT OVERRIDE'],
  [0x202f, 'NARROW NO-BREAK SPACE'],
  [0x2060, 'WORD JOINER'],
  [0x2066, 'LEFT-TO-RIGHT ISOLATE'],
  [0x2067, 'RIGHT-TO-LEFT ISOLATE'],
  [0x2068, 'FIRST STRONG ISOLATE'],
  [0x2069, 'POP DIRECTIONAL ISOLATE'],
  [0x2212, 'MINUS SIGN'],
  [0x3000, 'IDEOGRAPHIC SPACE'],
  [0xfeff, 'ZERO WIDTH NO-BREAK SPACE'],
]);

/** Digit zero of the most frequent scripts; the other nine digits follow it. */
const DIGITS: readonly (readonly [zero: number, script: string])[] = [
  [0x0660, 'ARABIC-INDIC'],
  [0x06f0, 'EXTENDED ARABIC-INDIC'],
  [0x0966, 'DEVANAGARI'],
  [0x09e6, 'BENGALI'],
  [0x0e50, 'THAI'],
  [0xff10, 'FULLWIDTH'],
];

/** Names a character: `U+200B ZERO WIDTH SPACE`. A character without an entry gets only its code point. */
export function nameOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const code = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
  const script = DIGITS.find(([zero]) => point >= zero && point < zero + 10);
  if (script !== undefined) return `${code} ${script[1]} DIGIT ${point - script[0]}`;
  const name = HIDDEN.get(point) ?? (point < 0x20 || point === 0x7f ? 'CONTROL CHARACTER' : '');
  return name === '' ? code : `${code} ${name}`;
}

const INVISIBLE = /\u034f|[\p{Cc}\p{Cf}\u00a0\u115f\u2007\u2009\u2028\u2029\u202f\u3000]/u;

/** The first character that a screen does not show, or shows as an ordinary blank. */
export function invisibleIn(text: string): string | undefined {
  return INVISIBLE.exec(text)?.[0];
}

/** The first character that changes the display order, or breaks the line on some screens only. */
export function misleadingIn(text: string): string | undefined {
  return /[\u0085\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/.exec(text)?.[0];
}

/** The first digit that is not one of 0 to 9. */
export function foreignDigitIn(text: string): string | undefined {
  return /[^\P{Nd}0-9]/u.exec(text)?.[0];
}

/** Quotes the text, shortens it to fit a line, and spells out hidden characters. */
export function show(text: string, charactersMax = 40): string {
  let shown = '';
  let count = 0;
  for (const character of text) {
    if (count++ === charactersMax) return `"${shown}…" (${text.length} characters)`;
    shown += INVISIBLE.test(character) ? `<${nameOf(character)}>` : character;
  }
  return `"${shown}"`;
}

const TEXT_FORMULA = /^="([^"]*)"$/;

/**
 * Reads `="119…"` as the text between the quotes. Exports write ids this way so that spreadsheets do not round them.
 */
export function textOf(cell: string): string {
  return cell.charCodeAt(0) === 0x3d ? (TEXT_FORMULA.exec(cell)?.[1] ?? cell) : cell;
}
