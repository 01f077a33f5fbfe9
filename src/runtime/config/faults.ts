import { statSync } from 'node:fs';
import { z } from 'zod';
import { parseBaseUrl } from '../../core/base-url.js';
import { counted } from '../../core/counted.js';
import { parseRate } from '../../core/profile.js';
import { isBlock, valueAt } from '../../yaml/values.js';
import { shown } from './describe.js';
import { didYouMean, type Layered } from './layers.js';
import type { Origin, SettingPath } from './model.js';
import { DEFAULT_BACKOFF, DEFAULT_RATE } from './realm-settings.js';

/** Names under which people put secrets into the file, where they must not be. */
const KEY_ITSELF = /^(api[-_]?key|key|token|secret|password|authorization)$/i;

/** Turns schema issues into faults of the form `realms.main.rate: expected …, got … (where)`. */
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

/** A fault of an environment variable or flag names it, because that is what the reader must change. */
function faultAt(path: SettingPath, message: string, layered: Pick<Layered, 'origin'>): string {
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
      ? '; the key itself must not be in the file: name its source with keyEnv or keyFile'
      : didYouMean(key, names);
  return faultAt([...path, key], `not a setting that almoner knows${hint}`, layered);
}

/** The names that a block of the schema knows. */
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

/**
 * Finds faults between settings. It checks the raw tree: a schema skips its cross checks after a single wrong value,
 * and faults would then appear one at a time.
 */
export function consistencyFaults(layered: Layered, resolve: ResolveFile): readonly string[] {
  const faults: string[] = [];
  const fault = (path: SettingPath, message: string) => faults.push(faultAt(path, message, layered));
  const realms = isBlock(layered.tree.realms) ? layered.tree.realms : {};
  const seen = new Map<string, string>();
  const keys = new Map<string, Keyed>();
  notificationFaults(fault, [], layered.tree);

  const { deadMan } = layered.tree;
  if (isBlock(deadMan)) oneOf(fault, ['deadMan'], deadMan, { either: ['urlEnv', 'urlFile'], required: true });
  for (const [name, realm] of Object.entries(realms)) {
    const at = ['realms', name];
    if (name === 'embedded')
      fault(at, 'expected another name; embedded is the rehearsal realm of almoner itself');
    if (!isBlock(realm)) continue;
    oneOf(fault, at, realm, { either: ['keyEnv', 'keyFile'], required: true });
    reserveFault(fault, at, realm);
    backoffFault(fault, at, realm);
    balanceFault(fault, at, realm);

    notificationFaults(fault, at, realm);

    const identity = identityOf(realm);
    if (identity === undefined) continue;
    const twin = seen.get(identity);
    // Ledger and pace belong to the realm. Two profiles of one realm would each spend the whole rate.
    if (twin !== undefined) fault(at, `expected another realm, got the realm of realms.${twin} again`);
    else {
      seen.set(identity, name);
      sharedKeyFault(fault, at, { realm, identity }, { keys, resolve });
    }
  }
  return faults;
}

/**
 * Refuses a balance path together with several currencies. The path belongs to one balance; for another currency it
 * would prove something false.
 */
function balanceFault(fault: Report, at: SettingPath, { balancePath, currencies }: Block): void {
  if (typeof balancePath !== 'string' || !Array.isArray(currencies) || currencies.length === 0) return;
  const message =
    'expected no balancePath together with currencies: it names one balance, and the others are in `balances` of the member record';
  fault([...at, 'balancePath'], message);
}

function notificationFaults(fault: Report, at: SettingPath, { notifications }: Block): void {
  const { webhook, discord } = isBlock(notifications) ? notifications : {};
  const notify = [...at, 'notifications'];
  if (isBlock(webhook))
    oneOf(fault, [...notify, 'webhook'], webhook, {
      either: ['secretEnv', 'secretFile'],
      required: false,
    });
  if (isBlock(discord))
    oneOf(fault, [...notify, 'discord'], discord, {
      either: ['urlEnv', 'urlFile'],
      required: true,
    });
}

type Block = Readonly<Record<string, unknown>>;
type Report = (path: SettingPath, message: string) => void;
type ResolveFile = (path: SettingPath, text: string) => string;
type Keyed = { readonly at: SettingPath; readonly identity: string };

/**
 * Refuses one key for two realms. A key belongs to one realm; it would be sent to the other's host, and on the same
 * host the answer would be a 403.
 */
function sharedKeyFault(
  fault: Report,
  at: SettingPath,
  { realm, identity }: { realm: Block; identity: string },
  { keys, resolve }: { readonly keys: Map<string, Keyed>; readonly resolve: ResolveFile },
): void {
  const { keyEnv, keyFile } = realm;
  if (keyFile === undefined && keyEnv === undefined) return;
  const path = typeof keyFile === 'string' ? resolve([...at, 'keyFile'], keyFile) : null;
  const [setting, place, key] =
    path === null
      ? ['keyEnv', `variable ${String(keyEnv)}`, `variable ${String(keyEnv)}`]
      : ['keyFile', `file ${path}`, fileAt(path)];
  const first = keys.get(key);
  if (first === undefined) keys.set(key, { at, identity });
  else
    fault(
      [...at, setting],
      `expected a key for ${identity} alone, but ${first.at.join('.')} reads the same ${place} for ${first.identity}; give one of them a keyEnv or keyFile of its own`,
    );
}

/** Identifies a file, equal for all its names and links. */
function fileAt(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? path : `${found.dev} ${found.ino}`;
}

function oneOf(
  fault: Report,
  at: SettingPath,
  block: Block,
  { either: [a, b], required }: { readonly either: readonly [string, string]; readonly required: boolean },
): void {
  const both = block[a] !== undefined && block[b] !== undefined;
  if (both) fault([...at, b], `expected either ${a} or ${b}, got both`);
  else if (required && block[a] === undefined && block[b] === undefined)
    fault(at, `expected ${a} or ${b}, got neither`);
}

function reserveFault(fault: Report, at: SettingPath, realm: Block): void {
  const { rate } =
    typeof realm.rate === 'string' ? { rate: null, ...parseRate(realm.rate) } : { rate: DEFAULT_RATE };
  if (rate === null || typeof realm.rateReserve !== 'number') return;
  if (realm.rateReserve >= rate.requests)
    fault(
      [...at, 'rateReserve'],
      `expected less than the rate’s ${counted(rate.requests, 'request')}, got ${realm.rateReserve}`,
    );
}

/** Refuses a longest pause below the first one. */
function backoffFault(fault: Report, at: SettingPath, realm: Block): void {
  const { backoffMs, backoffMaxMs } = {
    ...DEFAULT_BACKOFF,
    ...(isBlock(realm.attempts) ? realm.attempts : {}),
  };
  if (typeof backoffMs !== 'number' || typeof backoffMaxMs !== 'number') return;
  if (backoffMaxMs < backoffMs)
    fault(
      [...at, 'attempts', 'backoffMaxMs'],
      `expected at least backoffMs, which is ${backoffMs}, got ${backoffMaxMs}`,
    );
}

function identityOf(realm: Block): string | undefined {
  if (typeof realm.baseUrl !== 'string' || typeof realm.realmId !== 'string') return undefined;
  const url = parseBaseUrl(realm.baseUrl);
  return 'baseUrl' in url ? `realm ${realm.realmId} at ${url.baseUrl}` : undefined;
}
