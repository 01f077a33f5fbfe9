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
  if (!isJsonObject(record)) return null;
  const balances = Object.hasOwn(record, 'balances') ? record.balances : undefined;
  // All else in the record is of the default currency, or nobody knows of which.
  if (profile.currency !== null) return isJsonObject(balances) ? own(balances, profile.currency) : null;
  const single = own(record, 'newBalance') ?? own(record, 'tokenBalance');
  if (single !== null) return single;
  if (!isJsonObject(balances)) return null;
  const entries = Object.values(balances);
  return entries.length === 1 ? wholeNumber(entries[0]) : null;
}

/**
 * The balance in the answer to a change, which is short (`{"newBalance": n}`) or a whole record. Where the
 * change named a currency, nothing says that `newBalance` is of it: taken for it, it could end read-back by a
 * mismatch that is none. So it is left out, and read-back judges by what it reads itself.
 */
export function answerBalance(answer: unknown, profile: BalanceProfile): string | null {
  if (!isJsonObject(answer)) return null;
  const short = profile.currency === null ? own(answer, 'newBalance') : null;
  return short ?? memberBalance(answer, profile);
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
