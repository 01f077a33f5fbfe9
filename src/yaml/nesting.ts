import { CST, Lexer } from 'yaml';

/**
 * Looks for nesting that nobody writes by hand, before anything is built from the text. The YAML parser
 * calls itself once per level: some thousand brackets exhaust the stack, and where that happens inside a
 * regular expression V8 ends the whole process, which no `catch` prevents. The lexer does not nest.
 */
export const YAML_LEVELS_MAX = 40;
/** Levels of blocks cost at least a column each, so that a limit on columns is one on levels. */
const INDENT_MAX = 200;

/** Where a text goes deeper than is read, or null. */
export function tooDeepAt(text: string): number | null {
  const depth = { brackets: 0, inLine: 0 };
  let [offset, before] = [0, '\n'];
  for (const lexeme of new Lexer().lex(text)) {
    // What follows the mark is a value, whatever it looks like.
    const kind = before === CST.SCALAR ? null : CST.tokenType(lexeme);
    if (kind === 'space' && before === '\n' && lexeme.length > INDENT_MAX) return offset;
    count(depth, kind);
    if (depth.brackets > YAML_LEVELS_MAX || depth.inLine > YAML_LEVELS_MAX) return offset;
    if (!MARKS.has(lexeme)) offset += lexeme.length;
    if (kind === 'newline') before = '\n';
    else if (lexeme !== CST.DOCUMENT) before = lexeme;
  }
  return null;
}

/** Brackets nest where they stand; `- - - x` nests within one line, and so does `? ? x`. */
function count(depth: { brackets: number; inLine: number }, kind: CST.TokenType | null): void {
  if (kind === 'newline') depth.inLine = 0;
  else if (kind === 'flow-seq-start' || kind === 'flow-map-start') depth.brackets += 1;
  else if (kind === 'flow-seq-end' || kind === 'flow-map-end')
    depth.brackets = Math.max(0, depth.brackets - 1);
  else if (kind === 'seq-item-ind' || kind === 'explicit-key-ind') depth.inLine += 1;
  else if (kind === 'map-value-ind' && depth.brackets === 0) depth.inLine += 1;
}

/** Marks of the lexer that stand for no characters. */
const MARKS: ReadonlySet<string> = new Set([CST.DOCUMENT, CST.FLOW_END, CST.SCALAR]);
