import { readFileSync } from 'node:fs';
import { hasCode, messageOf } from '../../core/errors/error.js';
import { readYaml, type YamlFault } from '../../yaml/read-yaml.js';
import { isBlock, type ValuePath, valueAt } from '../../yaml/values.js';
import type { Origin, SettingPath } from './model.js';

/** The YAML file as plain values, with the place of each value. */
export type ConfigFile = {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly faults: readonly string[];
  /** The place of a setting, or of the nearest block around it. */
  origin(path: SettingPath): Origin | undefined;
};

const FILE_BYTES_MAX = 256 * 1024;
const LIMITS = { levels: 12, values: 5_000, fields: Number.POSITIVE_INFINITY, aliases: 50 };

/** Settings that are text even if they look like numbers. */
const TEXT_SETTINGS: ReadonlySet<unknown> = new Set(['realmId', 'realmPointId', 'currencies', 'operator']);
const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype']);

/** Reads the configuration file, or throws one error with all its faults. */
export function readConfigFile(path: string, name: string): ConfigFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const missing = hasCode(error, 'ENOENT');
    return refused(
      missing ? `${name}: there is no such file` : `${name}: the file cannot be read (${messageOf(error)})`,
    );
  }
  if (Buffer.byteLength(text) > FILE_BYTES_MAX)
    return refused(`${name}: expected at most ${FILE_BYTES_MAX} bytes, got ${Buffer.byteLength(text)}`);
  return parseConfigFile(text, name);
}

function parseConfigFile(text: string, name: string): ConfigFile {
  const { source, faults } = readYaml(text, {
    limits: LIMITS,
    scalar: settingOf,
    isName: (label) => !FORBIDDEN_NAMES.has(label),
  });
  const texts = faults.map((fault) => faultText(fault, name));
  // The parser's warnings mean that the file may say something else than its author meant.
  const isUnsound = faults.some(({ what }) => what === 'syntax' || what === 'warning');
  if (source === null || isUnsound) return refused(...(isUnsound ? texts : texts.slice(-1)));
  const { value } = source;
  if (value !== null && !isBlock(value)) return refused(`${name}: expected a block of settings at the top`);
  return {
    settings: value ?? {},
    faults: texts,
    origin(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const part = path.slice(0, length);
        const found = valueAt(value, part);
        if (found !== undefined)
          return {
            from: 'file',
            file: name,
            ...(isBlock(found) ? source.placeOfKey(part) : source.place(part)),
          };
      }
      return undefined;
    },
  };
}

/** Keeps all digits of an id that is written without quotes. */
function settingOf(value: unknown, source: string | undefined, path: ValuePath): unknown {
  if (typeof value !== 'number' && typeof value !== 'bigint') return value;
  const name = path.findLast((part) => typeof part === 'string');
  return TEXT_SETTINGS.has(name) && source !== undefined ? source : Number(value);
}

function faultText({ what, path, detail, line, column }: YamlFault, name: string): string {
  const at = `(${name} line ${line}, column ${column})`;
  switch (what) {
    case 'syntax':
    case 'warning':
      return `${name}: not valid YAML: ${detail} ${at}`;
    case 'name':
      return `${path.join('.')}: not a name for a setting ${at}`;
    case 'twice':
      return `${path.join('.')}: occurs here twice ${at}`;
    case 'aliases':
      return `${name}: expected at most ${LIMITS.aliases} uses of YAML aliases; the file was not used`;
    default:
      return `${name}: expected at most ${LIMITS[what]} ${what}; the file was not used`;
  }
}

function refused(...faults: readonly string[]): ConfigFile {
  return { settings: {}, faults, origin: () => undefined };
}
