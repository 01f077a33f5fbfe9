import { z } from 'zod';
import { valueAt } from '../../yaml/read-yaml.js';
import { shown } from './describe.js';
import { didYouMean } from './environment.js';
import type { Layered } from './layers.js';
import type { Origin, SettingPath } from './model.js';

/** What people put into files most often and must not. */
const KEY_ITSELF = /^(api[-_]?key|key|token|secret|password|authorization)$/i;

/** Every fault the schema found, in the form `realms.main.rate: expected …, got … (where)`. */
export function faultsOf(error: z.ZodError, layered: Layered, schema: z.ZodType): readonly string[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => unknownName(path, key, layered, namesAt(schema, path)));
    const message =
      issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    const got = issue.code === 'invalid_key' ? path.at(-1) : valueAt(layered.tree, path);
    return [faultAt(path, `${message}, got ${shown(got)}`, layered)];
  });
}

/** An environment variable or flag is named itself: that is what the reader has to change. */
export function faultAt(path: SettingPath, message: string, layered: Pick<Layered, 'origin'>): string {
  const origin = layered.origin(path);
  const name = path.join('.');
  if (origin === undefined) return `${name}: ${message}`;
  if (origin.from === 'file') return `${name}: ${message} ${where(origin)}`;
  return `${origin.name}: ${message} ${where(origin)}`;
}

function where(origin: Origin): string {
  if (origin.from === 'file') return `(${origin.file} line ${origin.line}, column ${origin.column})`;
  return `(${origin.from})`;
}

function unknownName(path: SettingPath, key: string, layered: Layered, names: readonly string[]): string {
  const hint =
    KEY_ITSELF.test(key) && names.includes('keyEnv')
      ? '; a key never stands in the file: name its place with keyEnv or keyFile'
      : didYouMean(key, names);
  return faultAt([...path, key], `not a setting that almoner knows${hint}`, layered);
}

/** The names a block of the schema knows. */
function namesAt(schema: unknown, path: SettingPath): readonly string[] {
  const [step, ...rest] = path;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return namesAt(schema.unwrap(), path);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return namesAt(schema.unwrap(), path);
  if (schema instanceof z.ZodRecord) return namesAt(schema.valueType, rest);
  if (!(schema instanceof z.ZodObject)) return [];
  return step === undefined ? Object.keys(schema.shape) : namesAt(schema.shape[step], rest);
}
