import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { isLosslessNumber, parse, stringify } from 'lossless-json';
import type { BodyVerdict } from '../../core/classify.js';
import { oneLine } from '../../core/one-line.js';
import { ANSWER_BYTES_MAX } from './instances.js';

/** A JSON object as parsed: numbers are LosslessNumber, so that no digit is lost. */
export type JsonObject = { readonly [name: string]: unknown };

export type AnswerBody =
  | { readonly readable: true; readonly json: unknown; readonly text: string }
  | { readonly readable: false; readonly text: string };

/**
 * The body decides, not its label: JSON sent as text/plain is JSON, and an HTML page sent as
 * application/json is not.
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

/** `identity` is asked for; some servers and CDNs compress all the same. The output is bounded as well. */
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

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/**
 * What an answer's body is worth as proof of a change. Only an object is: a bare `5` may be the first half
 * of `50` where the server frames the body by closing the connection.
 */
export function verdictOf(body: AnswerBody): BodyVerdict {
  if (!body.readable || !isJsonObject(body.json)) return 'unreadable';
  return contradicts(body.json) ? 'contradicts' : 'readable';
}

/** An error inside an answer that claims success; a member record has no such field. */
export function reportsError(json: JsonObject): boolean {
  return Object.entries(json).some(([name, value]) => /^errors?$/i.test(name) && !isEmpty(value));
}

const NOT_DONE =
  /^(error|fail(ed|ure)?|rejected|denied|refused|invalid|pending|queued|processing|accepted)$/i;

/** JSON under a 2xx that says the change was not made, or not yet. */
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

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '') return true;
  if (isLosslessNumber(value)) return value.value === '0';
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

/** The realm's own words about an error, where it has some. */
export function messageIn(body: AnswerBody): string | null {
  if (!body.readable || !isJsonObject(body.json)) return null;
  for (const name of ['message', 'error', 'detail', 'title', 'reason']) {
    const value = Object.hasOwn(body.json, name) ? body.json[name] : undefined;
    if (typeof value === 'string' && oneLine(value) !== '') return oneLine(value).slice(0, 300);
    if (isJsonObject(value) && typeof value.message === 'string') return oneLine(value.message).slice(0, 300);
  }
  return null;
}

export function requestIdIn(body: AnswerBody): string | null {
  if (!body.readable || !isJsonObject(body.json)) return null;
  const value = body.json.requestId ?? body.json.request_id;
  return typeof value === 'string' && value !== '' ? oneLine(value).slice(0, 200) : null;
}

/**
 * A record for programs that know only JavaScript's numbers: what such a number holds exactly becomes one,
 * every other one (ids of 17 to 19 digits) becomes its text.
 */
export function plainJson(value: unknown): unknown {
  if (isLosslessNumber(value)) {
    const number = Number(value.value);
    return String(number) === value.value ? number : value.value;
  }
  if (Array.isArray(value)) return value.map(plainJson);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plainJson(item)]));
}

/** The record as the realm wrote it, digit by digit, indented for a person. */
export function prettyJson(value: unknown): string {
  return stringify(value, undefined, 2) ?? '';
}
