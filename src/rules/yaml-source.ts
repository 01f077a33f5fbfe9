import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
} from 'yaml';
import { messageOf } from '../core/errors/error.js';
import { misleadingIn, nameOf } from '../csv/visible.js';
import { tooDeepAt } from '../yaml/nesting.js';
import type { RuleFault } from './fault.js';
import { Fraction } from './fraction.js';
/** A place inside a value: field names and list positions. */
export type ValuePath = readonly (string | number)[];

export type Place = { readonly line: number; readonly column: number };

/** What stands at a place; undefined where nothing does. */
export function valueAt(value: unknown, path: ValuePath): unknown {
  let here = value;
  for (const step of path) {
    if (Array.isArray(here)) here = here[Number(step)];
    else if (typeof here === 'object' && here !== null && Object.hasOwn(here, step))
      here = Reflect.get(here, step);
    else return undefined;
  }
  return here;
}

/** A YAML text as plain values, with the way back from each value to its line and column. */
export type YamlSource = {
  readonly value: unknown;
  /** Where a value stands; the nearest one around it where it does not exist. */
  place(path: ValuePath): Place;
  /** Where the name of a field stands. */
  placeOfKey(path: ValuePath): Place;
  /** A text value as it is written: for faults inside expressions. */
  written(path: ValuePath): Written;
};

export type Written = Place & { readonly raw: string };

/** Where a character of a text value stands. */
export function placeInside({ raw, line, column }: Written, offset: number): Place {
  const inner = placeIn(raw, innerPlace(raw, offset));
  return { line: line + inner.line - 1, column: inner.line === 1 ? column + inner.column - 1 : inner.column };
}

export const YAML_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Reads a YAML text. Numbers are read exactly: one that a JavaScript number would round, or that is not
 * written in its usual form (`007`), becomes its text, so that ids need no quotes.
 */
export function readYaml(file: string, text: string): YamlSource | { readonly faults: readonly RuleFault[] } {
  const lines = new LineCounter();
  const fault = (offset: number, message: string): RuleFault => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col), code: 'ALM_RULE_SYNTAX', message };
  };
  const deep = tooDeepAt(text);
  if (deep !== null) return { faults: [{ ...fault(0, TOO_DEEP), ...placeIn(text, deep) }] };
  const misleading = misleadingIn(text);
  if (misleading !== undefined) {
    const code = misleading.charCodeAt(0).toString(16).padStart(4, '0');
    const message = `${nameOf(misleading)} lets a screen show another text than is read; where it is meant, write it as "\\u${code}".`;
    return { faults: [{ ...fault(0, message), ...placeIn(text, text.indexOf(misleading)) }] };
  }
  // The package compares every key of a map with every other: repeated ones are found below instead.
  const document = parseDocument(text, {
    lineCounter: lines,
    intAsBigInt: true,
    prettyErrors: false,
    uniqueKeys: false,
  });
  if (document.errors.length > 0)
    return {
      faults: document.errors.slice(0, 20).map((error) => fault(error.pos[0], sentence(error.message))),
    };
  let value: unknown;
  try {
    value = plain(document.contents);
  } catch (error) {
    const offset = error instanceof Unreadable ? error.offset : 0;
    return { faults: [fault(offset, sentence(messageOf(error)))] };
  }

  const nodeAt = (path: ValuePath): Node | null => {
    let node: unknown = document.contents;
    for (const step of path) {
      const inner: unknown = isMap(node) || isSeq(node) ? node.get(step, true) : undefined;
      if (inner === undefined || inner === null || typeof inner !== 'object') break;
      node = inner;
    }
    return isMap(node) || isSeq(node) || isScalar(node) ? node : null;
  };
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  return {
    value,
    place: (path) => at(nodeAt(path)?.range?.[0] ?? 0),
    placeOfKey(path) {
      const around = nodeAt(path.slice(0, -1));
      const name = path.at(-1);
      const pair = isMap(around)
        ? around.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === name)
        : undefined;
      const key: unknown = pair?.key;
      return at((isScalar(key) ? key.range?.[0] : undefined) ?? around?.range?.[0] ?? 0);
    },
    written(path) {
      const node = nodeAt(path);
      const [start, end] = node?.range ?? [0, 0];
      return { ...at(start), raw: isScalar(node) ? text.slice(start, end) : '' };
    },
  };
}

class Unreadable extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(message);
  }
}

const DEPTH_MAX = 20;
const FIELDS_MAX = 500;
const TOO_DEEP = `More than ${DEPTH_MAX} levels; no rule is that deep.`;

function plain(node: unknown, depth = 0): unknown {
  if (isScalar(node)) return scalar(node);
  if (node === null || node === undefined) return null;
  const offset = isMap(node) || isSeq(node) || isAlias(node) ? (node.range?.[0] ?? 0) : 0;
  // An alias can blow up a short file to gigabytes, and no rule needs one.
  if (isAlias(node))
    throw new Unreadable(offset, 'An alias (*name) is not allowed here; write the value out.');
  if (depth > DEPTH_MAX) throw new Unreadable(offset, TOO_DEEP);
  if (isSeq(node)) return node.items.map((item) => plain(item, depth + 1));
  if (!isMap(node)) throw new Unreadable(offset, 'This cannot be read as a value.');
  if (node.items.length > FIELDS_MAX)
    throw new Unreadable(offset, `More than ${FIELDS_MAX} fields in one place; no rule has that many.`);
  const entries = new Map<string, unknown>();
  for (const { key, value } of node.items) {
    if (!isScalar(key)) throw new Unreadable(offset, 'A field name is a plain word.');
    const name = String(scalar(key));
    if (entries.has(name))
      throw new Unreadable(key.range?.[0] ?? offset, `The field ${JSON.stringify(name)} stands here twice.`);
    entries.set(name, plain(value, depth + 1));
  }
  return Object.fromEntries(entries);
}

function scalar(node: Scalar): unknown {
  const { value, source } = node;
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

function placeIn(text: string, offset: number): Place {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function sentence(message: string): string {
  const first = message.split('\n')[0]?.trim() ?? '';
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/**
 * Where a character of a YAML text value stands in its source. A value is its lines without indentation,
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
