import {
  CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
} from 'yaml';
import { Fraction } from '../core/fraction.js';
import type { ValuePath } from './values.js';

export type Place = { readonly line: number; readonly column: number };

/** A YAML text as plain values, with the way back from each value to its line and column. */
export type YamlSource = {
  readonly value: unknown;
  /** The place of a value; of the nearest one around it where it does not exist. */
  place(path: ValuePath): Place;
  /** The place of a field's name. */
  placeOfKey(path: ValuePath): Place;
  /** A text value as it is written: for faults inside expressions. */
  written(path: ValuePath): Written;
};

export type Written = Place & { readonly raw: string };

/** What is wrong with a text, for each reader to say in its own words. */
export type YamlFault = Place & {
  readonly what: 'syntax' | 'warning' | 'name' | 'twice' | keyof YamlLimits;
  /** The value or the field that it is about. */
  readonly path: ValuePath;
  /** The parser's own words. */
  readonly detail: string;
};

/** The size that a file may have; past it, going on is the very thing to avoid. */
type YamlLimits = {
  readonly levels: number;
  readonly values: number;
  /** Fields of one mapping. */
  readonly fields: number;
  /** An alias can blow up a short file to gigabytes. */
  readonly aliases: number;
};

export type YamlReading = {
  readonly limits: YamlLimits;
  /** What a scalar means; where nothing is handed in, numbers are read exactly. */
  readonly scalar?: (value: unknown, source: string | undefined, path: ValuePath) => unknown;
  readonly isName?: (name: string) => boolean;
};

/**
 * Reads a YAML text into plain values. Where there are some, the faults are warnings of the parser and fields that cannot
 * stand where they do: each reader decides what those cost.
 */
export function readYaml(
  text: string,
  reading: YamlReading,
): { readonly source: YamlSource | null; readonly faults: readonly YamlFault[] } {
  const deep = tooDeepAt(text);
  if (deep !== null)
    return { source: null, faults: [{ ...placeIn(text, deep), what: 'levels', path: [], detail: '' }] };
  const lines = new LineCounter();
  const at = (offset = 0): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const document = parseDocument(text, {
    lineCounter: lines,
    intAsBigInt: true,
    prettyErrors: false,
    // The package compares every key of a map with every other: repeated ones are found below instead.
    uniqueKeys: false,
    // Whatever a %YAML directive says: 0100 is no octal number, 1:00 no sixty.
    version: '1.2',
    schema: 'core',
  });
  const said = [...document.errors, ...document.warnings].slice(0, FAULTS_MAX);
  const faults = said.map(({ name, message, pos }): YamlFault => {
    return { ...at(pos[0]), what: name === 'YAMLWarning' ? 'warning' : 'syntax', path: [], detail: message };
  });
  if (document.errors.length > 0) return { source: null, faults };
  const fault = (what: YamlFault['what'], path: ValuePath, offset: number) =>
    faults.push({ ...at(offset), what, path, detail: '' });
  let value: unknown;
  try {
    value = plain(document, reading, fault);
  } catch (error) {
    if (error !== PAST_LIMIT) throw error;
    return { source: null, faults };
  }

  return { source: sourceOf(document, text, value, at), faults };
}

function sourceOf(
  document: Document,
  text: string,
  value: unknown,
  at: (offset?: number) => Place,
): YamlSource {
  const nodeAt = (path: ValuePath): Node | null => {
    let node: unknown = document.contents;
    for (const step of path) {
      const around = isAlias(node) ? node.resolve(document) : node;
      const inner = isSeq(around) ? around.get(Number(step), true) : pairIn(around, step)?.value;
      if (inner === undefined || inner === null) break;
      node = inner;
    }
    const found = isAlias(node) ? node.resolve(document) : node;
    return isMap(found) || isSeq(found) || isScalar(found) ? found : null;
  };
  return {
    value,
    place: (path) => at(nodeAt(path)?.range?.[0]),
    placeOfKey(path) {
      const around = nodeAt(path.slice(0, -1));
      const key = pairIn(around, path.at(-1))?.key;
      return at((isScalar(key) ? key.range?.[0] : undefined) ?? around?.range?.[0]);
    },
    written(path) {
      const node = nodeAt(path);
      const [start, end] = node?.range ?? [0, 0];
      return { ...at(start), raw: isScalar(node) ? text.slice(start, end) : '' };
    },
  };
}

const FAULTS_MAX = 20;
const PAST_LIMIT = new Error('past a limit of YAML');

function pairIn(map: unknown, name: unknown): { readonly key: unknown; readonly value: unknown } | undefined {
  return isMap(map) ? map.items.findLast(({ key }) => isScalar(key) && nameOf(key) === name) : undefined;
}

/** A field's name as it is written: an id needs no quotes. */
function nameOf({ source, value }: Scalar): string {
  return source ?? String(value);
}

/**
 * The tree as plain values. It is converted here and not by the package's `toJS`: numbers keep their digits, aliases are
 * counted, and a field called `__proto__` is just a field.
 */
function plain(
  document: Document,
  { limits, scalar = exactly, isName = () => true }: YamlReading,
  fault: (what: YamlFault['what'], path: ValuePath, offset: number) => void,
): unknown {
  let [values, aliases] = [0, 0];
  const within = (what: keyof YamlLimits, count: number, path: ValuePath, offset: number) => {
    if (count <= limits[what]) return;
    fault(what, path, offset);
    throw PAST_LIMIT;
  };
  const convert = (node: unknown, path: ValuePath): unknown => {
    const offset = isMap(node) || isSeq(node) || isAlias(node) ? (node.range?.[0] ?? 0) : 0;
    values += 1;
    within('values', values, path, offset);
    if (isAlias(node)) {
      aliases += 1;
      within('aliases', aliases, path, offset);
      return convert(node.resolve(document), path);
    }
    if (isScalar(node)) return scalar(node.value, node.source, path);
    if (!isMap(node) && !isSeq(node)) return null;
    within('levels', path.length, path, offset);
    if (isSeq(node)) return node.items.map((item, index) => convert(item, [...path, index]));
    within('fields', node.items.length, path, offset);
    const entries = new Map<string, unknown>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? nameOf(key) : '?';
      const field = [...path, name];
      const place = (isScalar(key) ? key.range?.[0] : undefined) ?? offset;
      if (!isScalar(key) || !isName(name)) {
        fault('name', field, place);
        continue;
      }
      if (entries.has(name)) fault('twice', field, place);
      entries.set(name, convert(value, field));
    }
    return Object.fromEntries(entries);
  };
  return convert(document.contents, []);
}

/**
 * Numbers are read exactly: one that a JavaScript number would round, or that is not written in its usual form (`007`),
 * becomes its text, so that ids need no quotes.
 */
function exactly(value: unknown, source: string | undefined): unknown {
  if (typeof value === 'number') return isExactly(value, source ?? '') ? value : source;
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) && (source === undefined || source === String(value))
    ? number
    : (source ?? String(value));
}

/** False where a double is not what stands there: 9007199254740990.4 would be read as a whole number. */
function isExactly(value: number, source: string): boolean {
  const [read, written] = [Fraction.parse(String(value)), Fraction.parse(source)];
  return read === undefined || written === undefined || read.compare(written) === 0;
}

/**
 * Looks for nesting that nobody writes by hand, before anything is built from the text. The YAML parser
 * calls itself once per level: some thousand brackets exhaust the stack, and where that happens inside a
 * regular expression V8 ends the whole process, which no `catch` prevents. The lexer does not nest.
 */
const NESTING_MAX = 40;
/** Levels of blocks cost at least a column each, so that a limit on columns is one on levels. */
const INDENT_MAX = 200;

/** The place where a text goes deeper than is read, or null. */
function tooDeepAt(text: string): number | null {
  const depth = { brackets: 0, inLine: 0 };
  let [offset, before] = [0, '\n'];
  for (const lexeme of new Lexer().lex(text)) {
    // What follows the mark is a value, whatever it looks like.
    const kind = before === CST.SCALAR ? null : CST.tokenType(lexeme);
    if (kind === 'space' && before === '\n' && lexeme.length > INDENT_MAX) return offset;
    count(depth, kind);
    if (depth.brackets > NESTING_MAX || depth.inLine > NESTING_MAX) return offset;
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

/** The place of a character of a text value. */
export function placeInside({ raw, line, column }: Written, offset: number): Place {
  const inner = placeIn(raw, innerPlace(raw, offset));
  return { line: line + inner.line - 1, column: inner.line === 1 ? column + inner.column - 1 : inner.column };
}

export function placeIn(text: string, offset: number): Place {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/**
 * The place of a character of a YAML text value in its source. A value is its lines without indentation,
 * joined by a blank or a line feed, so both sides can be walked together. Escapes in double quotes shift the
 * place by a character or two, which still leads to the right line.
 */
function innerPlace(source: string, offset: number): number {
  const header = /^[|>][^\n]*\n/.exec(source)?.[0];
  const blockIndent = header === undefined ? Number.POSITIVE_INFINITY : indentOf(source.slice(header.length));
  let at = header?.length ?? (/^["']/.test(source) ? 1 : 0);
  let left = offset;
  for (let first = header === undefined; at < source.length; first = false) {
    const end = source.indexOf('\n', at);
    const line = source.slice(at, end === -1 ? source.length : end);
    const indent = first ? 0 : Math.min(blockIndent, line.length - line.trimStart().length);
    const length = line.length - indent;
    if (left <= length || end === -1) return Math.min(at + indent + left, source.length);
    // One character of the value, a blank or a line feed, stands for the line's end.
    left -= length + 1;
    at = end + 1;
  }
  return Math.min(at, source.length);
}

/** A block is indented as its first line that is not blank. */
function indentOf(lines: string): number {
  return /^(?:[ \t]*\n)*( *)/.exec(lines)?.[1]?.length ?? 0;
}
