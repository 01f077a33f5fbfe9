import { isLosslessNumber, parse } from 'lossless-json';
import { CURRENCY_ID } from '../../core/currencies.js';
import { messageOf } from '../../core/errors/error.js';
import { isMemberId, MEMBER_ID_EXPECTED } from '../../core/ids.js';
import { isJsonObject, type JsonObject } from '../json.js';
import { isWallet } from '../wallet.js';
import { type Answer, invalid, type Read, read, refuse, unreadable } from './answer.js';

/**
 * Readers for request bodies. They never turn digits into a double: an id beyond 2^53 or an amount such as
 * 9007199254740993 arrives exactly, or is refused by name. Unknown fields are ignored.
 */

const JSON_TYPE = /^application\/(json|[^;\s]+\+json)\s*(;|$)/i;
const INTEGER = /^-?(0|[1-9][0-9]*)$/;
const WALLETS_MAX = 1_000;
/** The largest amount of one change. */
const TOKENS_MAX = 1_000_000_000_000_000;
/** The name of the realm's own currency. A request may omit it. */
export const OWN_CURRENCY = 'default';

/** True if the text can name a further currency, as in a profile's `realmPointId`. */
export function isCurrency(text: string): boolean {
  return CURRENCY_ID.test(text) && text !== OWN_CURRENCY;
}

/** Reads a JSON object from the body, or returns the refusal. */
export function readBody(contentType: string | undefined, text: string): Read<JsonObject> {
  if (text.trim() === '') return unreadable('The request needs a JSON object as its body; it was empty.');
  if (contentType === undefined || !JSON_TYPE.test(contentType)) {
    const got = contentType === undefined ? 'none' : JSON.stringify(contentType);
    const message = `The body must be sent as Content-Type application/json, got ${got}.`;
    return { ok: false, refusal: refuse(415, 'unsupported_media_type', message) };
  }
  try {
    const body = parse(text);
    if (isJsonObject(body)) return read(body);
    return unreadable(`The body must be a JSON object, got ${kindOf(body)}.`);
  } catch (error) {
    return unreadable(`The body is not valid JSON: ${messageOf(error)}.`);
  }
}

/** Reads the amount. `signed` allows negative amounts, which subtract. */
export function readTokens(body: JsonObject, sign: 'signed' | 'positive'): Read<number> {
  const value = field(body, 'tokens');
  if (value === undefined) return unreadable('The field tokens is missing.', 'tokens');
  if (!isLosslessNumber(value)) {
    return unreadable(`tokens must be a JSON integer, got ${kindOf(value)}.`, 'tokens');
  }
  const digits = value.value;
  if (!INTEGER.test(digits)) {
    return unreadable(`tokens must be an integer in plain digits, got ${shorten(digits)}.`, 'tokens');
  }
  const amount = digits.length > 17 ? Number.POSITIVE_INFINITY : Math.abs(Number(digits));
  if (amount === 0) return unreadable('tokens must not be zero.', 'tokens');
  if (amount > TOKENS_MAX) {
    return unreadable(
      `tokens must be between -${TOKENS_MAX} and ${TOKENS_MAX}, got ${shorten(digits)}.`,
      'tokens',
    );
  }
  if (sign === 'positive' && digits.startsWith('-')) {
    return unreadable(`tokens of a transfer must be positive, got ${digits}.`, 'tokens');
  }
  return read(Number(digits));
}

/** Reads a JSON integer, as documented, or the same digits as a string, which some callers send. */
export function readRecipient(body: JsonObject): Read<string> {
  const value = field(body, 'recipientId');
  if (value === undefined) return unreadable('The field recipientId is missing.', 'recipientId');
  const digits = isLosslessNumber(value) ? value.value : value;
  if (typeof digits !== 'string') {
    return unreadable(
      `recipientId must be a JSON integer or a string of digits, got ${kindOf(value)}.`,
      'recipientId',
    );
  }
  if (!isMemberId(digits)) {
    return unreadable(`recipientId must be ${MEMBER_ID_EXPECTED}, got ${shorten(digits)}.`, 'recipientId');
  }
  return read(digits);
}

/** Reads the currency; null is the realm's own. The move script checks whether the realm has the named one. */
export function readCurrency(body: JsonObject): Read<string | null> {
  const value = field(body, 'realmPointId');
  if (value === undefined || value === OWN_CURRENCY) return read(null);
  if (typeof value === 'string' && value !== '') return read(value);
  return unreadable(
    `realmPointId must be the name of a currency, got ${value === '' ? '""' : kindOf(value)}.`,
    'realmPointId',
  );
}

/** A change in a currency that the realm does not have is refused; it must not move points. */
export function unknownCurrency(named: string, others: readonly string[]): Answer {
  const known = [OWN_CURRENCY, ...[...others].sort()].map(shorten);
  const exist = known.length === 1 ? `only ${known[0]} exists` : `${known.join(', ')} exist`;
  const message = `realmPointId names no currency of this realm: ${exist}, got ${shorten(named)}. Nothing was changed.`;
  return invalid(message, 'realmPointId');
}

/** Reads a list of wallets, or returns the refusal. */
export function readWallets(body: JsonObject): Read<string[]> {
  const value = field(body, 'wallets');
  if (value === undefined) return unreadable('The field wallets is missing.', 'wallets');
  if (!Array.isArray(value)) return unreadable(`wallets must be a list, got ${kindOf(value)}.`, 'wallets');
  if (value.length > WALLETS_MAX) {
    return unreadable(`wallets may hold at most ${WALLETS_MAX} entries, got ${value.length}.`, 'wallets');
  }
  const wallets: string[] = [];
  for (const [at, wallet] of value.entries()) {
    if (typeof wallet !== 'string' || !isWallet(wallet)) {
      const got = typeof wallet === 'string' ? shorten(wallet) : kindOf(wallet);
      return unreadable(
        `wallets[${at}] must be a string of 1 to 128 visible characters, got ${got}.`,
        'wallets',
      );
    }
    wallets.push(wallet);
  }
  return read(wallets);
}

function field(body: JsonObject, name: string): unknown {
  return Object.hasOwn(body, name) ? body[name] : undefined;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (isLosslessNumber(value)) return `the number ${shorten(value.value)}`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a string';
  if (typeof value === 'boolean') return String(value);
  return 'an object';
}

function shorten(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

export function readMemberId(text: string): Read<string> {
  if (isMemberId(text)) return read(text);
  const got = JSON.stringify(text.slice(0, 40));
  return unreadable(`The member id in the path must be ${MEMBER_ID_EXPECTED}, got ${got}.`, 'memberID');
}

/**
 * The Idempotency-Key header: an RFC 8941 string (`"abc"`, with \" and \\ escaped), or the bare token that many
 * clients send. Both spellings of one text are the same key.
 */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
const BARE = /^[\x21\x23-\x7e]+$/;
const IDEMPOTENCY_KEY_MAX = 255;

/** Reads the Idempotency-Key header; null if the request has none. */
export function readIdempotencyKey(header: string | string[] | undefined): Read<string | null> {
  if (header === undefined) return read(null);
  const text = typeof header === 'string' ? header.trim() : '';
  const key = QUOTED.exec(text)?.[1]?.replaceAll(/\\(["\\])/g, '$1') ?? (BARE.test(text) ? text : undefined);
  if (key === undefined || key === '' || key.length > IDEMPOTENCY_KEY_MAX) {
    return unreadable(
      `The Idempotency-Key header must hold one quoted string or one bare token of 1 to ${IDEMPOTENCY_KEY_MAX} visible characters.`,
      'Idempotency-Key',
    );
  }
  return read(key);
}
