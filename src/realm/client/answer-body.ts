import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { isLosslessNumber, parse } from 'lossless-json';
import type { BodyProof } from '../../core/classify.js';
import { oneLine } from '../../core/one-line.js';
import type { RealmProfile } from '../../core/profile.js';
import { isJsonObject, type JsonObject } from '../json.js';
import { ANSWER_BYTES_MAX } from './exchange.js';

/** An answer's body, decompressed and parsed if it is JSON. */
export type AnswerBody =
  | { readonly readable: true; readonly json: unknown; readonly text: string }
  | { readonly readable: false; readonly text: string };

/**
 * Parses an answer by its content, not by its content type. JSON sent as text/plain counts as JSON; an HTML page sent
 * as application/json does not.
 */
export function readAnswerBody(body: Buffer, encoding: string | undefined): AnswerBody {
  const plain = decompress(body, encoding);
  if (plain === undefined) return { readable: false, text: '' };
  const text = plain.toString('utf8').replace(/^\ufeff/, '');
  try {
    return { readable: true, json: parse(text), text };
  } catch {
    return { readable: false, text };
  }
}

/**
 * The client requests `identity`, but some servers and CDNs compress anyway. The decompressed size is bounded too.
 */
function decompress(body: Buffer, encoding: string | undefined): Buffer | undefined {
  const options = { maxOutputLength: ANSWER_BYTES_MAX };
  try {
    switch ((encoding ?? 'identity').trim().toLowerCase()) {
      case 'identity':
      case '':
        return body;
      case 'gzip':
      case 'x-gzip':
        return gunzipSync(body, options);
      case 'deflate':
        return inflateSync(body, options);
      case 'br':
        return brotliDecompressSync(body, options);
      default:
        return undefined;
    }
  } catch {
    return undefined;
  }
}

/**
 * Judges whether an answer's body proves a change. Only a JSON object does: if the server ends the body by closing
 * the connection, a bare `5` may be the first half of `50`.
 */
export function bodyProofOf(body: AnswerBody): BodyProof {
  if (!body.readable || !isJsonObject(body.json)) return 'unreadable';
  return contradicts(body.json) ? 'contradicts' : 'readable';
}

/** True if an answer that claims success contains an error. A member record has no such field. */
export function reportsError(json: JsonObject): boolean {
  return Object.entries(json).some(([name, value]) => /^errors?$/i.test(name) && !isEmpty(value));
}

/** Status words that say the change was not made, or not yet. */
const NOT_DONE =
  /^(error|fail(ed|ure)?|rejected|denied|refused|invalid|pending|queued|processing|accepted)$/i;

/** True if the JSON of a 2xx answer says that the change was not made, or not yet. */
function contradicts(json: JsonObject): boolean {
  if (reportsError(json)) return true;
  return Object.entries(json).some(([name, value]) => {
    switch (name.toLowerCase()) {
      case 'success':
      case 'successful':
      case 'ok':
      case 'applied':
        return value === false || value === 'false' || (isLosslessNumber(value) && value.value === '0');
      case 'status':
      case 'statuscode':
      case 'state':
      case 'result':
        if (typeof value === 'string' && NOT_DONE.test(value.trim())) return true;
        return isLosslessNumber(value) && (value.value === '202' || /^[345]\d\d$/.test(value.value));
      default:
        return false;
    }
  });
}

/** True for values that mean "no error", such as null, false, 0, an empty text or list. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '') return true;
  if (isLosslessNumber(value)) return value.value === '0';
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

/** The realm's own error text, if the answer has one; on one line and at most 300 characters. */
export function messageIn(body: AnswerBody): string | null {
  if (!body.readable || !isJsonObject(body.json)) return null;
  for (const name of ['message', 'error', 'detail', 'title', 'reason']) {
    const value = Object.hasOwn(body.json, name) ? body.json[name] : undefined;
    if (typeof value === 'string' && oneLine(value) !== '') return oneLine(value).slice(0, 300);
    if (isJsonObject(value) && typeof value.message === 'string') return oneLine(value.message).slice(0, 300);
  }
  return null;
}

/** The request id in the body, if the answer's headers have none. */
export function requestIdIn(body: AnswerBody): string | null {
  if (!body.readable || !isJsonObject(body.json)) return null;
  const value = body.json.requestId ?? body.json.request_id;
  return typeof value === 'string' && value !== '' ? oneLine(value).slice(0, 200) : null;
}

/**
 * The profile fields that say where the balance is. A balance that is absent or not a whole number reads as null,
 * never as zero: read-back would take a zero as proof.
 */
type BalanceProfile = Pick<RealmProfile, 'balancePath' | 'currency'>;

/** Reads the balance from a member record: at the profile's path, or else in the usual places. */
export function memberBalance(record: unknown, profile: BalanceProfile): string | null {
  if (profile.balancePath !== null) return wholeNumber(at(record, profile.balancePath));
  if (!isJsonObject(record)) return null;
  const balances = Object.hasOwn(record, 'balances') ? record.balances : undefined;
  // The other fields are in the realm's default currency, or in an unknown one.
  if (profile.currency !== null) return isJsonObject(balances) ? own(balances, profile.currency) : null;
  const single = own(record, 'newBalance') ?? own(record, 'tokenBalance');
  if (single !== null) return single;
  if (!isJsonObject(balances)) return null;
  const entries = Object.values(balances);
  return entries.length === 1 ? wholeNumber(entries[0]) : null;
}

/**
 * Reads the balance from the answer to a change. The answer is short (`{"newBalance": n}`) or a whole record. If the
 * change named a currency, `newBalance` may be in another one. It is then ignored, because a false mismatch could end
 * read-back; read-back uses only balances that it reads itself.
 */
export function answerBalance(answer: unknown, profile: BalanceProfile): string | null {
  if (!isJsonObject(answer)) return null;
  const short = profile.currency === null ? own(answer, 'newBalance') : null;
  return short ?? memberBalance(answer, profile);
}

function own(record: JsonObject, name: string): string | null {
  return Object.hasOwn(record, name) ? wholeNumber(record[name]) : null;
}

/** Follows a dotted path through objects and arrays. Own properties only, so a path cannot reach a prototype. */
function at(value: unknown, path: string): unknown {
  let here = value;
  for (const name of path.split('.')) {
    if (Array.isArray(here)) here = /^\d{1,6}$/.test(name) ? here[Number(name)] : undefined;
    else here = isJsonObject(here) && Object.hasOwn(here, name) ? here[name] : undefined;
  }
  return here;
}

/** Reads a JSON number or a numeric string as digits with an optional sign. `5.0` is 5; `5.5` is no balance. */
function wholeNumber(value: unknown): string | null {
  const text = isLosslessNumber(value) ? value.value : value;
  if (typeof text !== 'string') return null;
  const match = /^\s*(-?\d{1,40})(?:\.0*)?\s*$/.exec(text);
  return match?.[1] === undefined ? null : String(BigInt(match[1]));
}
