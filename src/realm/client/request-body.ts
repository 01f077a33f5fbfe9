import type { MemberId } from '../../core/ids.js';
import type { RealmProfile } from '../../core/profile.js';

/**
 * Bodies are put together as text, because a JavaScript number would round ids of 17 to 19 digits and no
 * stock serializer writes an integer literal from a string.
 */
type BodyProfile = Pick<RealmProfile, 'currency' | 'recipientAs'>;

/** `tokens` is signed: positive adds, negative subtracts. */
export function balanceBody(tokens: number, profile: BodyProfile): string {
  return `{"tokens":${integer(tokens)}${currency(profile)}}`;
}

export function transferBody(recipient: MemberId, tokens: number, profile: BodyProfile): string {
  // JSON allows no leading zeros; as an integer, 007 is 7.
  const literal = profile.recipientAs === 'string' ? `"${recipient}"` : String(BigInt(recipient));
  return `{"recipientId":${literal},"tokens":${integer(tokens)}${currency(profile)}}`;
}

export function walletsBody(wallets: readonly string[]): string {
  return JSON.stringify({ wallets });
}

/** RFC 8941 string: printable ASCII in quotes, with `"` and `\` escaped. */
export function structuredString(text: string): string {
  if (!/^[\x20-\x7e]*$/.test(text)) throw new RangeError('expected printable ASCII in an idempotency key');
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

function integer(tokens: number): string {
  if (!Number.isSafeInteger(tokens) || tokens === 0)
    throw new RangeError(`expected a safe integer of tokens other than 0, got ${tokens}`);
  return String(tokens);
}

function currency(profile: BodyProfile): string {
  return profile.currency === null ? '' : `,"realmPointId":${JSON.stringify(profile.currency)}`;
}
