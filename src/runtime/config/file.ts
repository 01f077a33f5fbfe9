import { readFileSync } from 'node:fs';
import { type Alias, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { messageOf } from '../../core/errors/error.js';
import { tooDeepAt } from '../../yaml/nesting.js';
import type { Origin, SettingPath } from './model.js';

/**
 * Reads the YAML file into plain values, with the place of each. The tree is converted here and not by the
 * package's `toJS`: ids of 18 digits written without quotes keep their digits, aliases are counted, and a
 * key such as `__proto__` is a fault instead of a surprise.
 */

export type ConfigFile = {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly faults: readonly string[];
  /** The place of a setting, or of the nearest block around it. */
  origin(path: SettingPath): Origin | undefined;
};

const FILE_BYTES_MAX = 256 * 1024;
const VALUES_MAX = 5_000;
const ALIASES_MAX = 50;
const DEPTH_MAX = 12;

/** These are text even when they look like numbers. */
const TEXT_SETTINGS = new Set(['realmId', 'realmPointId', 'operator']);
const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype']);

export function readConfigFile(path: string, name: string): ConfigFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return refused(
      missing ? `${name}: there is no such file` : `${name}: the file cannot be read (${messageOf(error)})`,
    );
  }
  if (Buffer.byteLength(text) > FILE_BYTES_MAX)
    return refused(`${name}: expected at most ${FILE_BYTES_MAX} bytes, got ${Buffer.byteLength(text)}`);
  return parseConfigFile(text, name);
}

export function parseConfigFile(text: string, name: string): ConfigFile {
  if (tooDeepAt(text) !== null)
    return refused(`${name}: expected at most ${DEPTH_MAX} levels; nothing of the file was used`);
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    version: '1.2',
    schema: 'core',
    // The package compares every key with every other: repeated ones are found below instead.
    uniqueKeys: false,
  });
  const place = (offset: number): Origin => {
    const { line, col } = lineCounter.linePos(offset);
    return { from: 'file', file: name, line, column: col };
  };
  const at = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return `(${name} line ${line}, column ${col})`;
  };
  const syntax = [...document.errors, ...document.warnings];
  if (syntax.length > 0)
    return refused(
      ...syntax.slice(0, 20).map((issue) => `${name}: not valid YAML: ${issue.message} ${at(issue.pos[0])}`),
    );

  const places = new Map<string, Origin>();
  const faults: string[] = [];
  let values = 0;
  let aliases = 0;

  const convert = (node: unknown, path: SettingPath): unknown => {
    values += 1;
    // Thrown, not collected: past these limits going on is the very thing to avoid.
    if (values > VALUES_MAX) throw new TooLarge(`expected at most ${VALUES_MAX} values`);
    if (path.length > DEPTH_MAX) throw new TooLarge(`expected at most ${DEPTH_MAX} levels`);
    if (isAlias(node)) return convert(follow(node), path);
    if (isSeq(node)) {
      remember(node, path);
      return node.items.map((item, index) => convert(item, [...path, String(index)]));
    }
    if (isMap(node)) return convertMap(node, path);
    if (!isScalar(node)) return null;
    remember(node, path);
    const isNumber = typeof node.value === 'number';
    const asText = isNumber && TEXT_SETTINGS.has(path.at(-1) ?? '') && node.source !== undefined;
    return asText ? node.source : node.value;
  };

  const convertMap = (node: { items: readonly { key: unknown; value: unknown }[] }, path: SettingPath) => {
    const block: Record<string, unknown> = {};
    for (const { key, value } of node.items) {
      const label = isScalar(key) ? (key.source ?? String(key.value)) : undefined;
      const offset = (isScalar(key) ? key.range?.[0] : undefined) ?? 0;
      if (label === undefined || FORBIDDEN_NAMES.has(label)) {
        faults.push(`${[...path, label ?? '?'].join('.')}: not a name for a setting ${at(offset)}`);
        continue;
      }
      if (Object.hasOwn(block, label))
        faults.push(`${[...path, label].join('.')}: stands here twice ${at(offset)}`);
      places.set(JSON.stringify([...path, label]), place(offset));
      block[label] = convert(value, [...path, label]);
    }
    return block;
  };

  const follow = (alias: Alias): unknown => {
    aliases += 1;
    if (aliases > ALIASES_MAX) throw new TooLarge(`expected at most ${ALIASES_MAX} uses of YAML aliases`);
    return alias.resolve(document);
  };
  const remember = (node: Node, path: SettingPath) => {
    if (node.range != null && path.length > 0) places.set(JSON.stringify(path), place(node.range[0]));
  };

  let tree: unknown;
  try {
    tree = convert(document.contents, []);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return refused(`${name}: ${error.message}; nothing of the file was used`);
  }
  if (tree !== null && !isBlock(tree)) return refused(`${name}: expected a block of settings at the top`);
  return {
    settings: tree ?? {},
    faults,
    origin(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const found = places.get(JSON.stringify(path.slice(0, length)));
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}

export function isBlock(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

class TooLarge extends Error {}

function refused(...faults: readonly string[]): ConfigFile {
  return { settings: {}, faults, origin: () => undefined };
}
