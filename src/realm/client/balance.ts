import { isLosslessNumber } from 'lossless-json';
import type { RealmProfile } from '../../core/profile.js';
import { isJsonObject, type JsonObject } from './answer-body.js';

/**
 * Where a balance stands. Absent, or anything but a whole number, is null and never zero: read-back would
 * take a zero for proof.
 */
type BalanceProfile = Pick<RealmProfile, 'balancePath' | 'currency'>;

/** The balance in a member record: at the profile's path, else in the usual places. */
export function memberBalance(record: unknown, profile: BalanceProfile): string | null {
  if (profile.balancePath !== null) return wholeNumber(at(record, profile.balancePath));
  return isJsonObject(record) ? (own(record, 'newBalance') ?? usualBalance(record, profile.currency)) : null;
}

/** The balance in the answer to a change, which is short (`{"newBalance": n}`) or a whole record. */
export function answerBalance(answer: unknown, profile: BalanceProfile): string | null {
  if (!isJsonObject(answer)) return null;
  return own(answer, 'newBalance') ?? memberBalance(answer, profile);
}

function usualBalance(record: JsonObject, currency: string | null): string | null {
  const balances = Object.hasOwn(record, 'balances') ? record.balances : undefined;
  // With a currency of its own, `tokenBalance` would be the balance of the default one.
  if (currency !== null && isJsonObject(balances)) return own(balances, currency);
  const single = own(record, 'tokenBalance');
  if (single !== null) return single;
  if (!isJsonObject(balances)) return null;
  const entries = Object.values(balances);
  return entries.length === 1 ? wholeNumber(entries[0]) : null;
}

function own(record: JsonObject, name: string): string | null {
  return Object.hasOwn(record, name) ? wholeNumber(record[name]) : null;
}

function at(value: unknown, path: string): unknown {
  let here = value;
  for (const name of path.split('.')) {
    if (Array.isArray(here)) here = /^\d{1,6}$/.test(name) ? here[Number(name)] : undefined;
    else here = isJsonObject(here) && Object.hasOwn(here, name) ? here[name] : undefined;
  }
  return here;
}

/** A JSON number or a numeric string, as digits with an optional sign; `5.0` is 5, `5.5` is no balance. */
export function wholeNumber(value: unknown): string | null {
  const text = isLosslessNumber(value) ? value.value : value;
  if (typeof text !== 'string') return null;
  const match = /^\s*(-?\d{1,40})(?:\.0*)?\s*$/.exec(text);
  return match?.[1] === undefined ? null : String(BigInt(match[1]));
}
