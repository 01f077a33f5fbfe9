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

/** A position in a file; both numbers count from 1. */
export type SourcePosition = { readonly line: number; readonly column: number };

/** A YAML text as plain values, with the line and column of each value. */
export type YamlSource = {
  readonly value: unknown;
  /** The place of a value. If it does not exist, the place of the nearest block around it. */
  place(path: ValuePath): SourcePosition;
  /** The place of a field's name. */
  placeOfKey(path: ValuePath): SourcePosition;
  /** A text value as written in the source, to locate faults inside expressions. */
  written(path: ValuePath): Written;
};

export type Written = SourcePosition & { readonly raw: string };

/** A fault of a YAML text. Each reader words its own message. */
export type YamlFault = SourcePosition & {
  readonly what: 'syntax' | 'warning' | 'name' | 'twice' | keyof YamlLimits;
  /** The value or the field that the fault is about. */
  readonly path: ValuePath;
  /** The parser's own message. */
  readonly detail: string;
};

/** The size limits of a file. Reading stops at a limit, because parsing further is the danger. */
type YamlLimits = {
  readonly levels: number;
  readonly values: number;
  /** Fields of one mapping. */
  readonly fields: number;
  /** Uses of aliases, which can expand a short file to gigabytes. */
  readonly aliases: number;
};

/** How a reader wants its YAML: limits, numbers and allowed field names. */
export type YamlReading = {
  readonly limits: YamlLimits;
  /** Converts a scalar. The default reads numbers exactly. */
  readonly scalar?: (value: unknown, source: string | undefined, path: ValuePath) => unknown;
  readonly isName?: (name: string) => boolean;
};

/**
 * Reads a YAML text into plain values. If it returns values, the faults are parser warnings and misplaced fields;
 * each reader decides whether they matter.
 */
export function readYaml(
  text: string,
  reading: YamlReading,
): { readonly source: YamlSource | null; readonly faults: readonly YamlFault[] } {
  const deep = tooDeepAt(text);
  if (deep !== null)
    return { source: null, faults: [{ ...placeIn(text, deep), what: 'levels', path: [], detail: '' }] };
  const lines = new LineCounter();
  const at = (offset = 0): SourcePosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const document = parseDocument(text, {
    lineCounter: lines,
    intAsBigInt: true,
    prettyErrors: false,
    // The package compares every key of a map with every other. The search for repeated keys below is faster.
    uniqueKeys: false,
    // Applies whatever a %YAML directive says: 0100 is not octal, and 1:00 is not sixty.
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
  at: (offset?: number) => SourcePosition,
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

/** A field's name as written, so that an id needs no quotes. */
function nameOf({ source, value }: Scalar): string {
  return source ?? String(value);
}

/**
 * Converts the tree to plain values. The package's `toJS` is not used: here numbers keep their digits, aliases are
 * counted, and a field named `__proto__` is an ordinary field.
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
 * Reads numbers exactly. A number that JavaScript would round, or that has an unusual form (`007`), becomes its text,
 * so that ids need no quotes.
 */
function exactly(value: unknown, source: string | undefined): unknown {
  if (typeof value === 'number') return isExactly(value, source ?? '') ? value : source;
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) && (source === undefined || source === String(value))
    ? number
    : (source ?? String(value));
}

/** False if the double differs from the text: 9007199254740990.4 would read as a whole number. */
function isExactly(value: number, source: string): boolean {
  const [read, written] = [Fraction.parse(String(value)), Fraction.parse(source)];
  return read === undefined || written === undefined || read.compare(written) === 0;
}

/**
 * The limit on nested brackets and marks. It is checked before the text is parsed: the YAML parser recurses once per
 * level, so some thousand brackets exhaust the stack. If that happens inside a regular expression, V8 ends the whole
 * process, and no `catch` prevents it. The lexer does not recurse.
 */
const NESTING_MAX = 40;
/** A nested block needs at least one more column, so a limit on columns is a limit on levels. */
const INDENT_MAX = 200;

/** The place where the text is nested too deeply, or null. */
function tooDeepAt(text: string): number | null {
  const depth = { brackets: 0, inLine: 0 };
  let [offset, before] = [0, '\n'];
  for (const lexeme of new Lexer().lex(text)) {
    // The token after this mark is a value, whatever it looks like.
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

/** Counts brackets, and the marks that nest within one line, such as `- - - x` and `? ? x`. */
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

/** The place of a character inside a text value. */
export function placeInside({ raw, line, column }: Written, offset: number): SourcePosition {
  const inner = placeIn(raw, innerPlace(raw, offset));
  return { line: line + inner.line - 1, column: inner.line === 1 ? column + inner.column - 1 : inner.column };
}

/** The line and column of a character offset. */
export function placeIn(text: string, offset: number): SourcePosition {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/**
 * Finds the source position of a character of a text value. The value is its lines without indentation, joined by a
 * blank or a line feed, so both texts can be walked in parallel. Escapes in double quotes shift the position by a
 * character or two, but the line stays right.
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
    // One character of the value (a blank or a line feed) represents the line end.
    left -= length + 1;
    at = end + 1;
  }
  return Math.min(at, source.length);
}

/** The indentation of a block is that of its first line that is not blank. */
function indentOf(lines: string): number {
  return /^(?:[ \t]*\n)*( *)/.exec(lines)?.[1]?.length ?? 0;
}
